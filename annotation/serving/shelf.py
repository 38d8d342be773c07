"""The models that a worker has loaded. The old champion answers until the new one is loaded."""

import logging
import time
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock

from django.db import close_old_connections

from annotation.core import storage
from annotation.core.errors import DomainError, Missing
from annotation.loop.gateway.serving_model import ServingModel
from annotation.loop.registry import choose_version
from annotation.models import ModelVersion, Project
from annotation.serving.messages import Question, Served
from prm.messages import Message
from prm.threshold import Threshold

log = logging.getLogger(__name__)
RETRY_SECONDS = 30.0  # between two attempts to load a model


@dataclass(frozen=True)
class Loaded:
    model: ServingModel
    served: Served


class Shelf:
    """An LRU cache of at most `most` models, which the scoring threads share; another thread loads."""

    def __init__(self, *, most: int, cache_bytes: int) -> None:
        self._most, self._cache_bytes = most, cache_bytes
        self._loaded: OrderedDict[int, Loaded] = OrderedDict()
        self._loading: dict[int, Future[Loaded]] = {}
        self._failed: dict[int, tuple[DomainError, float]] = {}
        self._answered: dict[tuple[int, str], int] = {}  # which version last served a project and domain
        self._chosen: dict[tuple[int, str, int | None], ModelVersion | DomainError] = {}
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="load-model")
        self._lock = Lock()

    def find(self, question: Question) -> Loaded | None:
        """The model that answers; None while it is loading and no other may answer instead.

        Raises DomainError if no model serves, or the requested one cannot be loaded.
        """
        place = (question.project, question.domain)
        with self._lock:
            wanted = self._wanted(question.project, question.domain, question.version)
            loaded = self._take(wanted.pk)
            if loaded is None:
                self._load(wanted)
                previous = self._answered.get(place)
                loaded = self._take(previous) if previous is not None and question.version is None else None
            if loaded is not None:
                if question.version is None:
                    self._answered[place] = loaded.served.id
                return loaded
            if wanted.pk in self._failed:
                raise self._failed[wanted.pk][0]
            return None

    def update(self) -> None:
        """Check for new champions and newly loaded models. Without it, nothing changes within a batch."""
        with self._lock:
            self._chosen.clear()
            self._collect()

    def refresh(self) -> None:
        """Load new champions for the domains served so far, before a question needs them."""
        with self._lock:
            self._collect()
            for project, domain in list(self._answered):
                with suppress(DomainError):
                    champion = self._wanted(project, domain)
                    if champion.pk not in self._loaded:
                        self._load(champion)

    def close(self) -> None:
        self._loader.shutdown(wait=False, cancel_futures=True)

    def _wanted(self, project: int, domain: str, version: int | None = None) -> ModelVersion:
        request = (project, domain, version)
        if request not in self._chosen:
            try:
                self._chosen[request] = _choose(*request)
            except DomainError as error:
                self._chosen[request] = error
        chosen = self._chosen[request]
        if isinstance(chosen, DomainError):
            raise chosen
        return chosen

    def _take(self, version: int) -> Loaded | None:
        if version in self._loaded:
            self._loaded.move_to_end(version)
        return self._loaded.get(version)

    def _load(self, version: ModelVersion) -> None:
        failed = self._failed.get(version.pk)
        if version.pk in self._loading or (failed and time.monotonic() < failed[1]):
            return
        self._loading[version.pk] = self._loader.submit(_load, version, self._cache_bytes)

    def _collect(self) -> None:
        """Put newly loaded models on the shelf."""
        for pk, future in list(self._loading.items()):
            if not future.done():
                continue
            del self._loading[pk]
            try:
                self._loaded[pk] = future.result()
                self._failed.pop(pk, None)
            except DomainError as error:
                self._failed[pk] = error, time.monotonic() + RETRY_SECONDS
                log.error("Model version %s cannot serve: %s", pk, error.message)
            while len(self._loaded) > self._most:
                self._loaded.popitem(last=False)


def served_of(version: ModelVersion, threshold: Threshold) -> Served:
    snapshot = version.snapshot
    return Served(
        id=version.pk,
        number=version.number,
        sha256=version.sha256,
        snapshot=version.snapshot_id,
        snapshot_sha256=snapshot.sha256 if snapshot else None,
        threshold=threshold,
    )


class ModelUnusable(DomainError):
    status = 503


def _choose(project: int, domain: str, version: int | None) -> ModelVersion:
    """Query the database, once per batch. Raises Missing, and what `choose_version` raises."""
    row = Project.objects.filter(pk=project).first()
    if row is None:
        raise Missing(Message("project_deleted_while_waiting"), code="project_not_found")
    if version is None:
        return choose_version(row, domain=domain)
    named = ModelVersion.objects.select_related("snapshot").filter(pk=version).first()
    if named is None:
        raise Missing(Message("model_deleted_while_waiting"), code="model_not_found")
    return choose_version(row, domain=domain, named=named)


def _load(version: ModelVersion, cache_bytes: int) -> Loaded:
    try:
        with storage.holding():
            model = ServingModel(version, cache_bytes=cache_bytes)
        return Loaded(model, served_of(version, model.threshold))
    except DomainError as error:
        raise ModelUnusable(error.message, error.extra, code=error.code) from error
    except Exception as error:
        log.exception("Model version %s cannot be loaded", version.pk)
        raise ModelUnusable(
            Message("model_cannot_load", n=version.number, error=error), code="model_unusable"
        ) from error
    finally:
        close_old_connections()
