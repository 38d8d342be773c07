"""Writes the score log after the answers, many rows at a time, and deletes logged questions from the queue."""

import hashlib
import logging
import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec
import redis
from django.db import DatabaseError, close_old_connections
from django.db.models import BooleanField, F, Func, QuerySet, Value

from annotation.core.statements import fetch_all
from annotation.loop.gateway.serving_model import Text
from annotation.models import Project, ServedScore
from annotation.serving import request_queue
from annotation.serving.messages import Answer, Question
from annotation.serving.request_queue import QueuedQuestion
from prm.trust import Scored

log = logging.getLogger(__name__)
MOST_ROWS = 1000
MOST_UNWRITTEN = 20_000  # answers without a row yet; at this number, answering waits
GATHER_SECONDS = 0.05  # in which answers join the first unwritten one, so that a statement writes several rows
NO_SCORES = Scored([], [], None, None, None, None, None)
_COLUMNS = [str(field.column) for field in ServedScore._meta.concrete_fields if not field.primary_key]
# Null if the row has been deleted since, as for scores that were written before.
_REFERENCES = {
    f"{name}_id": f"(SELECT id FROM {table} WHERE id = scored.{name}_id)"
    for name, table in (
        ("user", "auth_user"),
        ("token", "annotation_apitoken"),
        ("model_version", "annotation_modelversion"),
    )
}
# The type of a row gives each value of the JSON the type of its column.
INSERT = f"""
INSERT INTO annotation_servedscore ({", ".join(_COLUMNS)})
SELECT {", ".join(_REFERENCES.get(name, f"scored.{name}") for name in _COLUMNS)}
FROM json_populate_recordset(NULL::annotation_servedscore, %(rows)s::json) AS scored
ON CONFLICT DO NOTHING
"""


class Journal:
    """Writes in its own thread, and retries while the database is unreachable."""

    def __init__(self) -> None:
        self._unwritten: queue.Queue[tuple[QueuedQuestion, Answer, datetime] | None] = queue.Queue(MOST_UNWRITTEN)
        self._thread = threading.Thread(target=self._run, name="serving-log", daemon=True)
        self._closing = threading.Event()
        self._thread.start()

    def write(self, answers: Iterable[tuple[QueuedQuestion, Answer]]) -> None:
        now = datetime.now(UTC)
        for queued, answer in answers:
            self._unwritten.put((queued, answer, now))

    def close(self) -> None:
        """Write the remaining rows. If that fails, the next worker answers and logs their questions."""
        self._closing.set()
        with suppress(queue.Full):  # the writer then has rows to write, and sees after them that it is closing
            self._unwritten.put_nowait(None)
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while True:
            batch, over = self._next()
            while batch:
                try:
                    write_rows(batch)
                    request_queue.delete_entries(queued.entry_id for queued, _, _ in batch)
                    break
                except (DatabaseError, redis.RedisError) as error:
                    log.warning("The score log cannot be written (%s); trying again", error)
                    close_old_connections()
                    if self._closing.wait(1.0):
                        return
            close_old_connections()
            if over or (self._closing.is_set() and self._unwritten.empty()):
                return

    def _next(self) -> tuple[list[tuple[QueuedQuestion, Answer, datetime]], bool]:
        batch = []
        item = self._unwritten.get()
        self._closing.wait(GATHER_SECONDS)
        while item is not None:
            batch.append(item)
            if len(batch) >= MOST_ROWS:
                return batch, False
            try:
                item = self._unwritten.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True


def write_rows(batch: Sequence[tuple[QueuedQuestion, Answer, datetime]]) -> None:
    """Insert one row per solution; skip rows that exist and rows of deleted projects."""
    projects = Project.objects.in_bulk({queued.question.project for queued, _, _ in batch})
    keeps_text = {pk: project.policies.serving.keep_text for pk, project in projects.items()}
    rows = [
        row
        for queued, answer, now in batch
        if queued.question.project in projects
        for row in _rows(queued.question, answer, now, keep_text=keeps_text[queued.question.project])
    ]
    fetch_all(INSERT, {"rows": msgspec.json.encode(rows).decode()})


def with_words(rows: QuerySet[ServedScore], words: str) -> QuerySet[ServedScore]:
    """Rows whose stored problem and steps contain all `words`; the last word may be a prefix."""
    return rows.filter(_HasWords(F("text"), Value(words)))


class _HasWords(Func):
    """Whether a text contains all words: the condition of the index over `served_words`."""

    template = "served_words(%(expressions)s)::text, '') || ':*')::tsquery"
    arg_joiner = ") @@ (nullif(plainto_tsquery('simple', "
    output_field = BooleanField()


def text_hash(text: Text) -> str:
    """SHA-256 of the problem and steps as JSON, independent of how they were sent."""
    return hashlib.sha256(msgspec.json.encode([text.problem, text.steps])).hexdigest()


def _rows(question: Question, answer: Answer, now: datetime, *, keep_text: bool) -> Iterator[dict[str, Any]]:
    """The columns of each solution's row by name."""
    asked_at = datetime.fromtimestamp(question.asked_at, UTC)
    texts = question.texts or [Text("", ())]
    scored = answer.results or [NO_SCORES] * len(texts)
    served = answer.served
    for index, (text, score) in enumerate(zip(texts, scored, strict=True)):
        yield {
            "request": question.id,
            "index": index,
            "project_id": question.project,
            "user_id": question.user,
            "token_id": question.token,
            "route": question.route,
            "domain": question.domain,
            "model_version_id": served.id if served else None,
            "model_number": served.number if served else None,
            "model_sha256": served.sha256 if served else "",
            "aggregate": question.aggregate,
            "text_hash": text_hash(text),
            "text": [text.problem, text.steps] if keep_text and text.problem else None,
            "mean": score.mean,
            "spread": score.spread,
            "score": score.score,
            "first_suspicious": score.first_suspicious,
            "uncertainty": score.uncertainty,
            "distance": score.distance,
            "out_of_domain": score.out_of_domain,
            "abstained": score.abstained,
            "failure": answer.failure.code if answer.failure else "",
            "seconds": (now - asked_at).total_seconds(),
            "batch": answer.batch,
            "asked_at": asked_at,
        }
