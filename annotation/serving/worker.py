"""The threads of a `score` worker that answer all waiting questions in batches.

The next batch gathers while one is scored, so batches grow with the load and nobody waits for a batch to fill.
Pool scoring runs in the worker's main thread.
"""

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator, Sequence

import redis
from django.conf import settings
from django.db import DatabaseError, close_old_connections

from annotation.core.errors import DomainError
from annotation.core.wording import as_message
from annotation.loop.gateway import serving_model as gateway
from annotation.serving import request_queue
from annotation.serving.journal import Journal
from annotation.serving.messages import Answer, Failure, Question
from annotation.serving.request_queue import QueuedQuestion
from annotation.serving.shelf import Loaded, Shelf
from prm.messages import Message

log = logging.getLogger(__name__)
IDLE_SECONDS = 1.0
LOADING_SECONDS = 0.02  # between two checks of a model that is loading
CHOICE_SECONDS = 0.2  # for which the choice of the champion holds, so that most batches need no statement
PULSE_SECONDS = 1.0
WEIGHT = 0.2  # of the last batch in the moving average of the rate


class Server:
    """The threads of this process that answer questions, with the models and the score log that they share."""

    def __init__(self) -> None:
        self.worker = new_name()
        self.shelf = Shelf(most=settings.SERVING_MODELS, cache_bytes=settings.SERVING_SESSION_MB * 2**20)
        self.journal = Journal()
        self.stopping = threading.Event()
        self._threads = [ScoreThread(self, number) for number in range(gateway.MOST_THREADS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Finish the current batches, write the log, leave the queue to other workers."""
        self.stopping.set()
        for thread in self._threads:
            thread.join(timeout=10)
        self.journal.close()
        self.shelf.close()
        try:
            request_queue.leave_group(self.worker)
        except redis.RedisError:
            log.warning("Redis does not answer; other workers claim the questions in a few seconds")


class ScoreThread(threading.Thread):
    """Answers questions until it is stopped; retries during an outage of Redis or the database.

    The first thread also sends the heartbeat, claims abandoned questions and loads new champions.
    """

    def __init__(self, server: Server, number: int) -> None:
        super().__init__(name=f"serving-{number}", daemon=True)
        self._worker, self._shelf, self._journal = server.worker, server.shelf, server.journal
        self._stopping = server.stopping
        self._number = number
        self._parked: list[QueuedQuestion] = []
        self._rate: float | None = None
        self._refreshed = self._updated = 0.0

    def run(self) -> None:
        self._threads, self._most = gateway.prepare_thread()
        if self._number >= self._threads:
            return
        pulse = threading.Thread(target=self._pulse, name="serving-pulse", daemon=True)
        joined = False
        while not self._stopping.is_set():
            try:
                if not joined:
                    request_queue.join_group(self._worker)
                    joined = True
                    if self._number == 0 and not pulse.is_alive():
                        pulse.start()
                self._turn()
            except redis.RedisError as error:
                joined = False  # Redis may have lost the group with its data
                log.warning("Redis does not answer (%s); trying again", error)
                self._stopping.wait(1.0)
            except Exception:
                log.exception("A turn of serving failed")
                self._stopping.wait(1.0)
            finally:
                close_old_connections()

    def _pulse(self) -> None:
        while not self._stopping.wait(PULSE_SECONDS):
            try:
                request_queue.send_heartbeat(self._worker)
            except redis.RedisError:
                continue

    def _turn(self) -> None:
        # Held from here on, so that after an outage they are retried until their deadline.
        self._parked += request_queue.take_waiting(
            self._worker,
            most=min(self._most, settings.SERVING_BATCH),
            seconds=LOADING_SECONDS if self._parked else IDLE_SECONDS,
        )
        now = time.monotonic()
        if self._number == 0 and now - self._refreshed > IDLE_SECONDS:
            self._refreshed = now
            self._parked += request_queue.claim_abandoned(self._worker)
            self._shelf.refresh()
        if now - self._updated > CHOICE_SECONDS:
            self._updated = now
            self._shelf.update()
        for group in portions(list(self._parked), settings.SERVING_BATCH_CHARS):
            loading = self._answer_or_fail(group)
            self._parked = self._parked[len(group) :] + loading

    def _answer_or_fail(self, group: Sequence[QueuedQuestion]) -> list[QueuedQuestion]:
        """As `_answer`, but answers an unexpected error with a failure; an outage still raises."""
        try:
            return self._answer(group)
        except (redis.RedisError, DatabaseError):
            raise
        except Exception as error:
            log.exception("%d questions failed together", len(group))
            self._finish([(queued, Answer(failure=_defect(error))) for queued in group], None)
            return []

    def _answer(self, group: Sequence[QueuedQuestion]) -> list[QueuedQuestion]:
        """Answer the group, and fail expired questions; returns the questions whose model is loading."""
        parked: list[QueuedQuestion] = []
        started = time.time()
        by_model: dict[int, tuple[Loaded, list[QueuedQuestion]]] = {}
        for queued in group:
            question = queued.question
            if question.deadline < started:
                late = Failure(504, "timed_out", Message("question_expired"))
                self._finish([(queued, Answer(failure=late))], None)
                continue
            try:
                loaded_model = self._shelf.find(question)
            except DomainError as error:
                self._finish([(queued, Answer(failure=_failure(error)))], None)
                continue
            if loaded_model is None:
                parked.append(queued)
            else:
                by_model.setdefault(loaded_model.served.id, (loaded_model, []))[1].append(queued)
        for loaded, places in by_model.values():
            self._finish(list(zip(places, _read(loaded, places), strict=True)), loaded)
        answered = sum(len(places) for _, places in by_model.values())
        if answered:
            self._note_rate(self._threads * answered / max(time.time() - started, 1e-6))
        return parked

    def _finish(self, answers: list[tuple[QueuedQuestion, Answer]], loaded: Loaded | None) -> None:
        for _, answer in answers:
            answer.served = loaded.served if loaded else None
            answer.batch = len(answers)
        request_queue.send_answers((queued.question, answer) for queued, answer in answers)
        self._journal.write(answers)

    def _note_rate(self, rate: float) -> None:
        self._rate = rate if self._rate is None else (1 - WEIGHT) * self._rate + WEIGHT * rate
        request_queue.report_rate(self._rate)


def new_name() -> str:
    """The name of this process among the readers of the queue.

    A restarted container has the host name and the process id of the one before. With the same name it would never
    claim the questions that were left unanswered.
    """
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


def portions(batch: Sequence[QueuedQuestion], most_chars: int) -> Iterator[list[QueuedQuestion]]:
    """The questions in order, split where their texts exceed `most_chars`, so that large ones delay only later ones."""
    portion: list[QueuedQuestion] = []
    total = 0
    for queued in batch:
        size = sum(len(text.problem) + sum(len(step) for step, _ in text.steps) for text in queued.question.texts)
        if portion and total + size > most_chars:
            yield portion
            portion, total = [], 0
        portion.append(queued)
        total += size
    if portion:
        yield portion


def _read(loaded: Loaded, batch: Sequence[QueuedQuestion]) -> list[Answer]:
    """An answer per question. If the batch fails, each question is scored alone, so that one cannot fail the others."""
    whole = [queued.question for queued in batch if queued.question.kind == "score"]
    try:
        scored = iter(_score(loaded, whole))
    except Exception:
        log.exception("A batch of %d questions failed; scoring them one by one", len(whole))
        scored = (_alone(loaded, question) for question in whole)
    return [next(scored) if queued.question.kind == "score" else _alone(loaded, queued.question) for queued in batch]


def _alone(loaded: Loaded, question: Question) -> Answer:
    try:
        if question.kind == "append":
            text = question.texts[0]
            return Answer(results=[loaded.model.append(text, question.aggregate)])
        if question.kind == "states":
            states = loaded.model.states(question.ids)
            return Answer(states=states, width=loaded.model.width, tokens=sum(map(len, question.ids)))
        return _score(loaded, [question])[0]
    except DomainError as error:
        return Answer(failure=_failure(error))
    except Exception as error:
        log.exception("Question %s failed", question.id)
        return Answer(failure=_defect(error))


def _score(loaded: Loaded, questions: Sequence[Question]) -> list[Answer]:
    texts = [text for question in questions for text in question.texts]
    aggregates = [question.aggregate for question in questions for _ in question.texts]
    scored = iter(loaded.model.score(texts, aggregates))
    return [
        Answer(
            results=[next(scored) for _ in question.texts],
            tokens=loaded.model.count_tokens(question.texts) if question.route == "pooling" else 0,
        )
        for question in questions
    ]


def _failure(error: DomainError) -> Failure:
    return Failure(error.status, error.code, as_message(error.message), error.extra)


def _defect(error: Exception) -> Failure:
    message = Message("model_cannot_read", kind=type(error).__name__, error=error)
    return Failure(500, "scoring_failed", message)
