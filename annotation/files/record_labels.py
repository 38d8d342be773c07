"""The labels in records: whose they are, whether they are stored already, and their rows."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec
from django.utils import timezone

from annotation.files import file_people, identity
from annotation.files.copying import NewRows
from annotation.models import Annotation, LabelSource, PathStep, Project, StepRating
from prm.formats.record import Record, RecordAnnotation
from prm.formats.registry import FORMATS
from prm.vocabulary import GIVEN_UP, MACHINES

FIELDS = {
    Annotation: (
        "id", "project", "solution", "source", "annotator", "lane", "submission_id", "payload_hash", "revision",
        "counted", "adjudicates", "finish_reason", "reason", "first_error", "progress", "total_ms", "comment", "native",
        "stated", "submitted_at",
    ),
    PathStep: ("annotation", "position", "chosen", "own_text", "dwell_ms", "native"),
    StepRating: (
        "annotation", "step", "ordinal", "state", "rating", "flagged", "accepted", "error_type", "comment",
        "dimensions", "spans",
    ),
}  # fmt: skip
NO_REASON = "not given in the imported file"
# Fields of a label that are in other tables for the platform's own labels.
STATED = ("source_detail", "generation", "inclusion", "guidelines", "reference_disputed", "hint")

Keys = list[list[int]]  # ids of steps, by position and alternative
Added = Literal["new", "revised", "unnamed"]
Labeller = tuple[int, int, int | None]  # of a solution: the solution, the source, and the membership


def is_unnamed(source_name: str) -> bool:
    """Whether a source names nobody: the file has no annotator, so that only its format identifies the labels."""
    return not source_name or source_name in FORMATS


def names_nobody(annotation: RecordAnnotation) -> bool:
    """Whether a label states neither an annotator nor the name of a source."""
    return not annotation.annotator and is_unnamed(annotation.source_name)


class Labels:
    """The labels of one chunk of records in a project.

    Creating them stores the sources and the people from files that the project lacks.
    """

    def __init__(self, project: Project, records: Sequence[Record], rows: NewRows) -> None:
        self._project, self._rows = project, rows
        self._now = timezone.now()
        labels = [annotation for record in records for annotation in record.annotations]
        self._members = file_people.find_or_create(
            project, {name: a.source_kind for a in labels if (name := _person_in(a)) is not None}
        )
        self._payloads = {id(a): identity.payload_hash(r, self._known_as(a)) for r in records for a in r.annotations}
        self._ids = {key: identity.submission_id(project.pk, payload) for key, payload in self._payloads.items()}
        known = Annotation.objects.filter(submission_id__in=self._ids.values())
        self._known = set(known.values_list("submission_id", flat=True))
        self._sources = self._find_sources(labels)
        self._revisions: dict[Labeller, dict[int, datetime]] = defaultdict(dict)

    def find_revisions(self, solutions: list[int]) -> None:
        """Read the revisions of the labels on these stored solutions, with the time of each."""
        rows = Annotation.objects.filter(solution__in=solutions)
        for *labeller, revision, at in rows.values_list("solution", "source", "annotator", "revision", "submitted_at"):
            self._revisions[tuple(labeller)][revision] = at  # type: ignore[index]

    def has_fresh(self, record: Record) -> bool:
        """Whether a label of the record may not be stored yet."""
        return any(self._ids[id(annotation)] not in self._known for annotation in record.annotations)

    def fresh(self, record: Record, solution: int | None) -> list[RecordAnnotation]:
        """The record's labels that are not stored yet on this solution; they count as stored from then on."""
        fresh = []
        for annotation in record.annotations:
            label = self._ids[id(annotation)]
            if label not in self._known and not (solution and self._is_stored(annotation, solution)):
                self._known.add(label)
                fresh.append(annotation)
        return fresh

    def add(self, annotation: RecordAnnotation, *, solution: int, steps: Keys, differing: dict[str, Any]) -> Added:
        """Add the rows of a label; `differing` are the record's fields that differ from the stored ones.

        A label replaces an earlier one only if both name the same annotator. Two labels without an annotator may be by
        two people, so the later one becomes another unnamed annotator's.
        """
        key = self._rows.key(Annotation)
        labeller = self._labeller_for(annotation, solution)
        _, source, member = labeller
        earlier = self._revisions[labeller]
        at = annotation.submitted_at or self._now
        replaces, revision = bool(earlier), annotation.revision
        if revision is None or revision in earlier:
            revision = max(earlier, default=0) + 1
        earlier[revision] = at
        gave_up = annotation.finish_reason in GIVEN_UP
        self._rows.add(
            Annotation,
            key,
            self._project.pk,
            solution,
            source,
            member,
            annotation.lane,
            self._ids[id(annotation)],
            self._payloads[id(annotation)],
            revision,
            False,
            annotation.adjudicates,
            annotation.finish_reason,
            annotation.reason or (NO_REASON if member and gave_up else ""),
            annotation.first_error,
            annotation.progress,
            annotation.total_ms,
            annotation.comment,
            annotation.native | ({"given": differing} if differing else {}),
            _stated(annotation),
            at,
        )
        for place in annotation.path:
            at_position = steps[place.position] if place.position < len(steps) else []
            chosen = None if place.chosen is None else at_position[place.chosen]
            self._rows.add(PathStep, key, place.position, chosen, place.own_text, place.dwell_ms, place.native)
            for ordinal, rating in enumerate(place.ratings):
                self._rows.add(
                    StepRating,
                    key,
                    at_position[rating.alternative],
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

        if replaces:
            return "revised"
        return "new" if source == self._sources[_source_of(annotation)] else "unnamed"

    def _known_as(self, annotation: RecordAnnotation) -> RecordAnnotation:
        """The label as a file of this project would name its person: by the pseudonym."""
        name = _person_in(annotation)
        if name is None:
            return annotation
        _, source = _source_of(annotation)
        return msgspec.structs.replace(annotation, annotator=self._members[name].pseudonym, source_name=source)

    def _is_stored(self, annotation: RecordAnnotation, solution: int) -> bool:
        """Whether this revision of this labeller, submitted at this time, is stored, whatever file it came in."""
        stored = self._revisions.get(self._labeller(annotation, solution), {}).get(annotation.revision or 0)
        return stored is not None and stored == annotation.submitted_at

    def _labeller(self, annotation: RecordAnnotation, solution: int) -> Labeller:
        name = _person_in(annotation)
        member = None if name is None else self._members[name].id
        return solution, self._sources[_source_of(annotation)], member

    def _labeller_for(self, annotation: RecordAnnotation, solution: int) -> Labeller:
        """The labeller to store; for an unnamed one, the first unnamed source that has not labelled the solution."""
        labeller = self._labeller(annotation, solution)
        if not names_nobody(annotation):
            return labeller
        kind, name = _source_of(annotation)
        number = 1
        while labeller in self._revisions:
            number += 1
            source = self._unnamed(kind, f"{name} ({number})".strip(), annotation.source_detail)
            labeller = solution, source, None
        return labeller

    def _unnamed(self, kind: str, name: str, detail: dict[str, Any]) -> int:
        if (kind, name) not in self._sources:
            source, _ = LabelSource.objects.get_or_create(
                project=self._project, kind=kind, name=name, defaults={"detail": detail}
            )
            self._sources[kind, name] = source.pk
        return self._sources[kind, name]

    def _find_sources(self, labels: Iterable[RecordAnnotation]) -> dict[tuple[str, str], int]:
        wanted = {_source_of(a): a.source_detail if _describes_source(a) else {} for a in labels}
        sources = [
            LabelSource(project=self._project, kind=kind, name=name, detail=detail)
            for (kind, name), detail in wanted.items()
        ]
        LabelSource.objects.bulk_create(sources, ignore_conflicts=True)
        stored = LabelSource.objects.filter(project=self._project, name__in=[name for _, name in wanted])
        return {(kind, name): key for kind, name, key in stored.values_list("kind", "name", "id")}


def _person_in(annotation: RecordAnnotation) -> str | None:
    """The file's name for the person, or the program among the members, who labelled; None for any other source.

    A machine that only `source_name` names is a source and not a person.
    """
    if annotation.annotator:
        return annotation.annotator
    named = annotation.source_kind == "human" and not is_unnamed(annotation.source_name)
    return annotation.source_name if named else None


def _source_of(annotation: RecordAnnotation) -> tuple[str, str]:
    """Kind and name of a label's source, whose name is empty for a person."""
    of_person = not annotation.annotator and _person_in(annotation) is not None
    return annotation.source_kind, "" if of_person else annotation.source_name


def _describes_source(annotation: RecordAnnotation) -> bool:
    """Whether the label's detail is that of its source, and not of a person or a program without a name."""
    return _person_in(annotation) is None or (annotation.source_kind in MACHINES and bool(annotation.source_name))


def _stated(annotation: RecordAnnotation) -> dict[str, Any]:
    """The fields of STATED that have a value. The detail of a source is stored with the source instead."""
    of_source = _describes_source(annotation)
    stated = {field: getattr(annotation, field) for field in STATED if not (of_source and field == "source_detail")}
    known = {field: value for field, value in stated.items() if value not in (None, {}) and value is not False}
    builtins: dict[str, Any] = msgspec.to_builtins(known)
    return builtins
