"""The score log: written behind the answers, many rows at once. A logged question leaves the line."""

import hashlib
import logging
import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

import msgspec
import redis
from django.db import DatabaseError, close_old_connections
from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL

from annotation.loop.gateway.serving_model import Scored, Text
from annotation.models import Project, ServedScore
from annotation.serving import request_queue
from annotation.serving.messages import Answer, Question
from annotation.serving.request_queue import Place

log = logging.getLogger(__name__)
MOST_ROWS = 1000
MOST_BEHIND = 20_000  # answers whose rows are not written yet; beyond it answering waits
_HAS_WORDS = """
served_words(annotation_servedscore.text) @@ (nullif(plainto_tsquery('simple', %s)::text, '') || ':*')::tsquery
"""
NOTHING = Scored([], [], None, None, None, None, None)


class Journal:
    """Writes in a thread of its own, and tries again where the database is away."""

    def __init__(self) -> None:
        self._behind: queue.Queue[tuple[Place, Answer, datetime] | None] = queue.Queue(MOST_BEHIND)
        self._thread = threading.Thread(target=self._run, name="serving-log", daemon=True)
        self._closing = threading.Event()
        self._thread.start()

    def write(self, answers: Iterable[tuple[Place, Answer]]) -> None:
        now = datetime.now(UTC)
        for place, said in answers:
            self._behind.put((place, said, now))

    def close(self) -> None:
        """Write what is left; what cannot be written is answered once more by the next worker, and logged then."""
        self._closing.set()
        self._behind.put(None)
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while True:
            batch, over = self._next()
            while batch:
                try:
                    write_rows(batch)
                    request_queue.forget(place.at for place, _, _ in batch)
                    break
                except (DatabaseError, redis.RedisError) as error:
                    log.warning("The score log cannot be written (%s); trying again", error)
                    close_old_connections()
                    if self._closing.wait(1.0):
                        return
            close_old_connections()
            if over:
                return

    def _next(self) -> tuple[list[tuple[Place, Answer, datetime]], bool]:
        batch = []
        item = self._behind.get()
        while item is not None:
            batch.append(item)
            if len(batch) >= MOST_ROWS:
                return batch, False
            try:
                item = self._behind.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True


def write_rows(batch: Sequence[tuple[Place, Answer, datetime]]) -> None:
    """One row a solution; one that is there already stays as it is, and none is written for a project that is gone."""
    projects = Project.objects.in_bulk({place.question.project for place, _, _ in batch})
    kept = {pk: project.policies.serving.keep_text for pk, project in projects.items()}
    rows = [
        row
        for place, said, now in batch
        if place.question.project in projects
        for row in _rows(place.question, said, now, keep_text=kept[place.question.project])
    ]
    ServedScore.objects.bulk_create(rows, ignore_conflicts=True)


def with_words(rows: QuerySet[ServedScore], words: str) -> QuerySet[ServedScore]:
    """Those whose kept problem and steps hold all of the words, the last of which may be the beginning of one."""
    return rows.filter(RawSQL(_HAS_WORDS, [words], output_field=BooleanField()))


def text_hash(text: Text) -> str:
    """SHA-256 of problem and steps as JSON: the same for the same texts and kinds, however they were sent."""
    return hashlib.sha256(msgspec.json.encode([text.problem, text.steps])).hexdigest()


def _rows(question: Question, said: Answer, now: datetime, *, keep_text: bool) -> Iterator[ServedScore]:
    asked = datetime.fromtimestamp(question.asked_at, UTC)
    texts = question.texts or [Text("", ())]
    scored = said.results or [NOTHING] * len(texts)
    for index, (text, one) in enumerate(zip(texts, scored, strict=True)):
        yield ServedScore(
            request=question.id,
            index=index,
            project_id=question.project,
            user_id=question.user,
            token_id=question.token,
            route=question.route,
            domain=question.domain,
            model_version_id=said.served.id if said.served else None,
            model_number=said.served.number if said.served else None,
            model_sha256=said.served.sha256 if said.served else "",
            aggregate=question.aggregate,
            text_hash=text_hash(text),
            text=[text.problem, text.steps] if keep_text and text.problem else None,
            mean=one.mean,
            spread=one.spread,
            score=one.score,
            first_suspicious=one.first_suspicious,
            uncertainty=one.uncertainty,
            distance=one.distance,
            out_of_domain=one.out_of_domain,
            abstained=one.abstained,
            failure=said.failure.code if said.failure else "",
            seconds=(now - asked).total_seconds(),
            batch=said.batch,
            asked_at=asked,
        )
