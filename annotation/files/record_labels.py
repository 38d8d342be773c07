"""The labels in records: their sources, whether they are stored already, and their rows."""

import uuid
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from django.db.models import Max
from django.utils import timezone

from annotation.files import identity
from annotation.files.copying import NewRows
from annotation.models import Annotation, LabelSource, Membership, PathStep, Project, StepRating
from prm.formats.record import Record, RecordAnnotation
from prm.formats.registry import FORMATS
from prm.vocabulary import GIVEN_UP

FIELDS = {
    Annotation: (
        "id", "project", "solution", "source", "annotator", "lane", "submission_id", "payload_hash", "revision",
        "counted", "adjudicates", "finish_reason", "reason", "first_error", "progress", "total_ms", "comment", "native",
        "submitted_at",
    ),
    PathStep: ("annotation", "position", "chosen", "own_text", "dwell_ms", "native"),
    StepRating: (
        "annotation", "step", "ordinal", "state", "rating", "flagged", "accepted", "error_type", "comment",
        "dimensions", "spans",
    ),
}  # fmt: skip
NO_REASON = "not given in the imported file"

Keys = list[list[int]]  # ids of steps, by position and alternative
Added = Literal["new", "revised", "unnamed"]


def is_unnamed(source_name: str) -> bool:
    """Whether a source names nobody: the file has no annotator, so that only its format identifies the labels."""
    return not source_name or source_name in FORMATS


class Labels:
    """The labels of one chunk of records in a project."""

    def __init__(self, project: Project, records: Sequence[Record], rows: NewRows) -> None:
        self._project, self._rows = project, rows
        self._now = timezone.now()
        labels = [annotation for record in records for annotation in record.annotations]
        self._payloads = {id(a): identity.payload_hash(r, a) for r in records for a in r.annotations}
        self._ids = {key: identity.submission_id(project.pk, payload) for key, payload in self._payloads.items()}
        known = Annotation.objects.filter(submission_id__in=self._ids.values())
        self._known = set(known.values_list("submission_id", flat=True))
        members = Membership.objects.filter(project=project, pseudonym__in=_uuids(a.annotator for a in labels))
        self._members = {str(pseudonym): pk for pseudonym, pk in members.values_list("pseudonym", "id")}
        self._sources = self._find_sources(labels)
        self._revisions: dict[tuple[int, int, int | None], int] = {}

    def find_revisions(self, solutions: list[int]) -> None:
        """Read the latest revisions of the labels on these stored solutions."""
        latest = Annotation.objects.filter(solution__in=solutions).values_list("solution", "source", "annotator")
        for solution, source, annotator, revision in latest.annotate(Max("revision")):
            self._revisions[solution, source, annotator] = revision

    def has_fresh(self, record: Record) -> bool:
        """Whether a label of the record is not stored yet."""
        return any(self._ids[id(annotation)] not in self._known for annotation in record.annotations)

    def fresh(self, record: Record) -> list[RecordAnnotation]:
        """The record's labels that are not stored yet; they count as stored from then on."""
        fresh = []
        for annotation in record.annotations:
            label = self._ids[id(annotation)]
            if label not in self._known:
                self._known.add(label)
                fresh.append(annotation)
        return fresh

    def add(self, annotation: RecordAnnotation, *, solution: int, steps: Keys, differing: dict[str, Any]) -> Added:
        """Add the rows of a label; `differing` are the record's fields that differ from the stored ones.

        A label replaces an earlier one only if both name the same annotator. Two labels without an annotator may be by
        two people, so the later one becomes another unnamed annotator's.
        """
        key = self._rows.key(Annotation)
        member = self._members.get(annotation.annotator or "")
        source = self._source_for(annotation, solution)
        revision = self._revisions.get((solution, source, member), 0) + 1
        self._revisions[solution, source, member] = revision
        self._rows.add(
            Annotation,
            key,
            self._project.pk,
            solution,
            source,
            member,
            "",
            self._ids[id(annotation)],
            self._payloads[id(annotation)],
            revision,
            False,
            annotation.adjudicates,
            annotation.finish_reason,
            NO_REASON if member and annotation.finish_reason in GIVEN_UP else "",
            annotation.first_error,
            annotation.progress,
            annotation.total_ms,
            annotation.comment,
            annotation.native | ({"given": differing} if differing else {}),
            annotation.submitted_at or self._now,
        )
        for place in annotation.path:
            at = steps[place.position] if place.position < len(steps) else []
            chosen = None if place.chosen is None else at[place.chosen]
            self._rows.add(PathStep, key, place.position, chosen, place.own_text, place.dwell_ms, place.native)
            for ordinal, rating in enumerate(place.ratings):
                self._rows.add(
                    StepRating,
                    key,
                    at[rating.alternative],
                    ordinal,
                    rating.state,
                    rating.rating,
                    rating.flagged,
                    rating.accepted,
                    rating.error_type,
                    rating.comment,
                    rating.dimensions,
                    msgspec.to_builtins(rating.spans),
                )

        if revision > 1:
            return "revised"
        return "new" if source == self._sources[self._source_of(annotation)] else "unnamed"

    def _source_for(self, annotation: RecordAnnotation, solution: int) -> int:
        """The id of the label's source; for an unnamed annotator, of the first who has not labelled the solution."""
        kind, name = self._source_of(annotation)
        source = self._sources[kind, name]
        if annotation.annotator or not is_unnamed(name):
            return source
        number = 1
        while (solution, source, None) in self._revisions:
            number += 1
            source = self._unnamed(kind, f"{name} ({number})".strip(), annotation.source_detail)
        return source

    def _unnamed(self, kind: str, name: str, detail: dict[str, Any]) -> int:
        if (kind, name) not in self._sources:
            source, _ = LabelSource.objects.get_or_create(
                project=self._project, kind=kind, name=name, defaults={"detail": detail}
            )
            self._sources[kind, name] = source.pk
        return self._sources[kind, name]

    def _find_sources(self, labels: list[RecordAnnotation]) -> dict[tuple[str, str], int]:
        wanted = {self._source_of(annotation): annotation.source_detail for annotation in labels}
        sources = [
            LabelSource(project=self._project, kind=kind, name=name, detail=detail)
            for (kind, name), detail in wanted.items()
        ]
        LabelSource.objects.bulk_create(sources, ignore_conflicts=True)
        stored = LabelSource.objects.filter(project=self._project, name__in=[name for _, name in wanted])
        return {(kind, name): key for kind, name, key in stored.values_list("kind", "name", "id")}

    def _source_of(self, annotation: RecordAnnotation) -> tuple[str, str]:
        """Kind and name of a label's source; a person who is not a member is a source with their pseudonym."""
        stranger = "" if annotation.annotator in self._members else annotation.annotator
        return annotation.source_kind, annotation.source_name or stranger or ""


def _uuids(texts: Any) -> list[uuid.UUID]:
    parsed = []
    for text in set(texts) - {None}:
        try:
            parsed.append(uuid.UUID(text))
        except ValueError:
            continue
    return parsed
