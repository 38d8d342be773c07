"""Inserts an annotation with its path and ratings."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from django.utils import timezone

from annotation.core.statements import columns, fetch_one, instance
from annotation.models import Annotation, LabelSource, Lease, QueueItem
from annotation.work.labelling.payload import Submission
from annotation.work.labelling.refusing import refuse
from prm.messages import Message

NOTHING: Mapping[str, Any] = {}
# The parts of one statement, which inserts all rows, from the path as JSON. It returns no row if the submission's id or
# the person's revision exists already, or if `source`, a part of the `guard`, has none.
ROWS = """
{guard}label AS (
    INSERT INTO annotation_annotation (
        project_id, solution_id, source_id, annotator_id, item_id, lease_id, lane, submission_id, payload_hash,
        revision, counted, adjudicates, finish_reason, reason, first_error, progress, total_ms, comment, native, stated,
        submitted_at, guidelines_id)
    SELECT
        %(project)s, %(solution)s, %(source)s, %(annotator)s, %(item)s, %(lease)s, %(lane)s, %(submission)s::uuid,
        %(payload_hash)s, %(revision)s, %(counted)s, %(adjudicates)s, %(finish_reason)s, %(reason)s, %(first_error)s,
        %(progress)s, %(total_ms)s, %(comment)s, %(native)s::jsonb, '{{}}', %(now)s, (
            SELECT version.id FROM annotation_guidelineversion version
            WHERE version.project_id = %(project)s AND CASE WHEN %(guidelines)s::bigint IS NULL
                THEN version.created_at <= %(begun)s::timestamptz ELSE version.number = %(guidelines)s::bigint END
            ORDER BY version.number DESC LIMIT 1)
    FROM {source}
    ON CONFLICT DO NOTHING
    RETURNING *
), place AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(path)s::json)
        AS place(position int, chosen bigint, own_text text, dwell_ms bigint, ratings json)
), path AS (
    INSERT INTO annotation_pathstep (annotation_id, position, chosen_id, own_text, dwell_ms, native)
    SELECT label.id, place.position, place.chosen, place.own_text, place.dwell_ms, '{{}}' FROM label, place
), ratings AS (
    INSERT INTO annotation_steprating (
        annotation_id, step_id, ordinal, state, rating, flagged, accepted, error_type, comment, dimensions,
        spans)
    SELECT label.id, rated.step, rated.ordinal - 1, rated.state, rated.rating, rated.flagged,
        coalesce(rated.accepted, false), rated.error_type, rated.comment, coalesce(rated.dimensions, '{{}}'),
        coalesce(rated.spans, '[]')
    FROM label, place, ROWS FROM (
        json_to_recordset(place.ratings) AS (
            step bigint, state text, rating int, flagged boolean, accepted boolean, error_type text, comment text,
            dimensions jsonb, spans jsonb)
    ) WITH ORDINALITY AS rated(
        step, state, rating, flagged, accepted, error_type, comment, dimensions, spans, ordinal)
)"""
LABEL = f"SELECT {columns(Annotation)} FROM label AS annotation_annotation"


class Others(NamedTuple):
    """Further parts of the statement, after a comma, with their values. They can use the part `label`.

    With a `guard`, a part `held`, the rows are only inserted if it has a row.
    """

    parts: str = ""
    values: Mapping[str, Any] = NOTHING
    guard: str = ""

    @property
    def statement(self) -> str:
        guard, source = (f"{self.guard}, ", "held") if self.guard else ("", "(SELECT) AS always")
        return f"WITH {ROWS.format(guard=guard, source=source)}{self.parts} {LABEL}"


NO_OTHERS = Others()


def write_annotation(
    submission: Submission,
    project: int,
    annotator: int | None,
    lease: Lease | None,
    item: QueueItem | None,
    *,
    kind: str,
    source: int | None,
    revision: int,
    counted: bool,
    adjudicates: bool,
    first_error: int | None,
    native: Mapping[str, Any] = NOTHING,
    others: Others = NO_OTHERS,
) -> Annotation | None:
    """Insert the rows of a valid submission; None, and no rows, if its id is already used or a guard has no row.

    `source` is the project's label source of this `kind`, None if it does not exist yet. An adjudication has neither
    lease nor item, and an estimate no annotator. A submission that does not name its version of the guidelines has the
    one that applied when its lease was claimed. Raises DomainError (`invalid_submission`) for a version that the
    project does not have.
    """
    now = timezone.now()
    guidelines = None if submission.guidelines is msgspec.UNSET else submission.guidelines
    row = fetch_one(
        others.statement,
        {
            **others.values,
            "project": project,
            "solution": submission.solution,
            "source": source or _new_source(project, kind),
            "annotator": annotator,
            "item": item and item.pk,
            "lease": lease and lease.pk,
            "lane": item.lane if item else "",
            "submission": submission.submission_id,
            "payload_hash": submission.payload_hash,
            "revision": revision,
            "counted": counted,
            "adjudicates": adjudicates,
            "finish_reason": submission.finish_reason,
            "reason": submission.reason,
            "first_error": first_error,
            "progress": None if submission.progress is msgspec.UNSET else submission.progress,
            "total_ms": submission.total_ms,
            "comment": submission.comment,
            "native": msgspec.json.encode(native).decode(),
            "path": msgspec.json.encode(submission.path).decode(),
            "now": now,
            "guidelines": guidelines,
            "begun": lease.claimed_at if lease else now,
        },
    )
    if row is None:
        return None
    annotation = instance(Annotation, row)
    if guidelines and annotation.guidelines_id is None:
        refuse("guidelines", Message("no_such_guidelines", version=guidelines))
    return annotation


def _new_source(project: int, kind: str) -> int:
    source, _ = LabelSource.objects.get_or_create(project_id=project, kind=kind, name="")
    return source.pk
