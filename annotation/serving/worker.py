"""The thread of a `score` worker that answers questions: whatever waits is read together.

While one batch is read the next one gathers on the line, so batches grow with the load and nobody waits for a
batch to fill. Pool scoring runs in the worker's own thread beside it.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence

import redis
from django.conf import settings
from django.db import DatabaseError, close_old_connections

from annotation.core.errors import DomainError
from annotation.loop.gateway import serving as gateway
from annotation.serving import line
from annotation.serving.journal import Journal
from annotation.serving.line import Place
from annotation.serving.messages import Answer, Failure, Question
from annotation.serving.shelf import Loaded, Shelf
from prm.messages import Message, as_json

log = logging.getLogger(__name__)
IDLE_SECONDS = 1.0
LOADING_SECONDS = 0.02  # between looks at a model that is being loaded
PULSE_SECONDS = 1.0
WEIGHT = 0.2  # of the last batch in the moving rate


class ScoreThread(threading.Thread):
    """Answers until it is stopped; an outage of Redis or of the database is waited out."""

    def __init__(self) -> None:
        super().__init__(name="serving", daemon=True)
        self.worker = f"{socket.gethostname()}-{os.getpid()}"
        self._stopping = threading.Event()
        self._shelf = Shelf(most=settings.SERVING_MODELS, kept_bytes=settings.SERVING_SESSION_MB * 2**20)
        self._journal = Journal()
        self._parked: list[Place] = []
        self._rate: float | None = None
        self._refreshed = 0.0

    def run(self) -> None:
        gateway.prepare_thread()
        pulse = threading.Thread(target=self._pulse, name="serving-pulse", daemon=True)
        joined = False
        while not self._stopping.is_set():
            try:
                if not joined:
                    line.join_group(self.worker)
                    joined = True
                    if not pulse.is_alive():
                        pulse.start()
                self._turn()
            except redis.RedisError as error:
                joined = False  # it may have lost the group with its memory
                log.warning("Redis does not answer (%s); trying again", error)
                self._stopping.wait(1.0)
            except Exception:
                log.exception("A turn of serving failed")
                self._stopping.wait(1.0)
            finally:
                close_old_connections()

    def stop(self) -> None:
        """Answer what is in hand, write the log, leave the line to others."""
        self._stopping.set()
        self.join(timeout=10)
        self._journal.close()
        self._shelf.close()
        try:
            line.leave_group(self.worker)
        except redis.RedisError:
            log.warning("Redis does not answer; others take over in some seconds")

    def _pulse(self) -> None:
        while not self._stopping.wait(PULSE_SECONDS):
            try:
                line.say_alive(self.worker)
            except redis.RedisError:
                continue

    def _turn(self) -> None:
        taken = line.take(
            self.worker, most=settings.SERVING_BATCH, seconds=LOADING_SECONDS if self._parked else IDLE_SECONDS
        )
        now = time.monotonic()
        if now - self._refreshed > IDLE_SECONDS:
            self._refreshed = now
            taken = line.take_over(self.worker) + taken
            self._shelf.refresh()
        taken = self._parked + taken
        self._shelf.look_again()
        self._parked = list(taken)  # what an outage leaves without an answer is tried again, until its time is over
        parked: list[Place] = []
        for group in portions(taken, settings.SERVING_BATCH_CHARS):
            parked += self._answer_or_fail(group)
            self._parked = self._parked[len(group) :]
        self._parked = parked

    def _answer_or_fail(self, group: Sequence[Place]) -> list[Place]:
        """As `_answer`; a defect of ours is an answer too, an outage is not."""
        try:
            return self._answer(group)
        except (redis.RedisError, DatabaseError):
            raise
        except Exception as error:
            log.exception("%d questions failed together", len(group))
            self._finish([(place, Answer(failure=_defect(error))) for place in group], None)
            return []

    def _answer(self, group: Sequence[Place]) -> list[Place]:
        """Answer what can be, log what nobody waits for any more; returns what waits for its model."""
        parked: list[Place] = []
        started = time.time()
        by_model: dict[int, tuple[Loaded, list[Place]]] = {}
        for place in group:
            question = place.question
            if question.deadline < started:
                self._finish([(place, Answer(failure=_late()))], None)
                continue
            try:
                found = self._shelf.find(question)
            except DomainError as error:
                self._finish([(place, Answer(failure=_failure(error)))], None)
                continue
            if found is None:
                parked.append(place)
            else:
                by_model.setdefault(found.served.id, (found, []))[1].append(place)
        for loaded, places in by_model.values():
            self._finish(list(zip(places, _read(loaded, places), strict=True)), loaded)
        answered = sum(len(places) for _, places in by_model.values())
        if answered:
            self._note_rate(answered / max(time.time() - started, 1e-6))
        return parked

    def _finish(self, answers: list[tuple[Place, Answer]], loaded: Loaded | None) -> None:
        for _, answer in answers:
            answer.served = loaded.served if loaded else None
            answer.batch = len(answers)
        line.answer((place.question, said) for place, said in answers)
        self._journal.write(answers)

    def _note_rate(self, rate: float) -> None:
        self._rate = rate if self._rate is None else (1 - WEIGHT) * self._rate + WEIGHT * rate
        line.tell_rate(self._rate)


def portions(places: Sequence[Place], most_chars: int) -> Iterator[list[Place]]:
    """The questions in order, cut where their texts pass `most_chars`: a small one waits for no large one behind it."""
    portion: list[Place] = []
    total = 0
    for place in places:
        size = sum(len(text.problem) + sum(len(step) for step, _ in text.steps) for text in place.question.texts)
        if portion and total + size > most_chars:
            yield portion
            portion, total = [], 0
        portion.append(place)
        total += size
    if portion:
        yield portion


def _read(loaded: Loaded, places: Sequence[Place]) -> list[Answer]:
    """An answer for each; where reading together fails, each is read alone, so that one cannot fail the others."""
    whole = [place.question for place in places if place.question.kind == "score"]
    try:
        found = iter(_score(loaded, whole))
    except Exception:
        log.exception("A batch of %d questions failed; they are read one by one", len(whole))
        found = (_alone(loaded, question) for question in whole)
    return [next(found) if place.question.kind == "score" else _alone(loaded, place.question) for place in places]


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
    return Failure(error.status, error.code, as_json(error.message), error.extra)


def _defect(error: Exception) -> Failure:
    message = Message("model_cannot_read", kind=type(error).__name__, error=error)
    return Failure(500, "scoring_failed", as_json(message))


def _late() -> Failure:
    return Failure(504, "timed_out", as_json(Message("question_expired")))
