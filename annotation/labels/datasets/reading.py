"""Reads solutions with their labels, many at a time and as plain rows, because a snapshot reads tens per solution."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import msgspec

from annotation.core.statements import fetch_all, fetch_named
from annotation.labels.annotators.batches import is_set_aside
from annotation.labels.consensus.consensus import person_of
from annotation.models import Annotation
from prm.consensus import Vote
from prm.formats.record import (
    Completion,
    HintDraw,
    Inclusion,
    PathPosition,
    Provenance,
    Rating,
    Record,
    RecordAnnotation,
    Span,
)

# Rows are read in binary form. JSON is read as text: almost all of it is empty and is not decoded.
SOLUTIONS = """
SELECT solution.id, problem.text AS problem, problem.source_group, solution.split,
    problem.domain, problem.reference_answer, problem.reference_solution, problem.extra::text AS problem_extra,
    solution.external_id, solution.generator, solution.final_answer, solution.final_answer_correct,
    solution.outcome_source, solution.provenance::text, solution.extra::text, solution.multiplicity
FROM annotation_solution solution JOIN annotation_problem problem ON problem.id = solution.problem_id
WHERE solution.id = ANY(%(ids)s)
"""
STEPS = """
SELECT solution_id, id, position, alternative, text, kind, added FROM annotation_step
WHERE solution_id = ANY(%(ids)s) ORDER BY solution_id, position, alternative
"""
CRITIQUES = """
SELECT step.solution_id, critique.step_id, critique.text
FROM annotation_critique critique JOIN annotation_step step ON step.id = critique.step_id
WHERE step.solution_id = ANY(%(ids)s) ORDER BY step.solution_id, critique.step_id, critique.ordinal
"""
LABELS = """
SELECT label.solution_id, label.id, label.source_id, label.annotator_id, label.revision,
    source.kind AS source_kind, source.name AS source_name, source.detail::text AS source_detail,
    member.pseudonym::text, label.finish_reason, label.first_error, label.progress, label.total_ms, label.submitted_at,
    label.lane, generation.number AS generation, item.inclusion_probability, guidelines.number AS guidelines,
    label.adjudicates, coalesce(dispute.state <> 'withdrawn', false) AS reference_disputed, label.native::text,
    label.stated::text, label.comment, label.reason,
    hint.shown AS hint_shown, version.number AS hint_model, hint.seen::text AS hint_seen
FROM annotation_annotation label
JOIN annotation_labelsource source ON source.id = label.source_id
LEFT JOIN annotation_membership member ON member.id = label.annotator_id
LEFT JOIN annotation_dispute dispute ON dispute.annotation_id = label.id
LEFT JOIN annotation_queueitem item ON item.id = label.item_id
LEFT JOIN annotation_generation generation ON generation.id = item.generation_id
LEFT JOIN annotation_guidelineversion guidelines ON guidelines.id = label.guidelines_id
LEFT JOIN annotation_lease lease ON lease.annotator_id = label.annotator_id AND lease.solution_id = label.solution_id
LEFT JOIN annotation_hint hint ON hint.lease_id = lease.id
LEFT JOIN annotation_modelversion version ON version.id = hint.model_version_id
WHERE label.solution_id = ANY(%(ids)s)
ORDER BY label.solution_id, label.submitted_at, label.revision, source.kind,
    source.name COLLATE "C", member.pseudonym
"""
PATH = """
SELECT annotation_id, position, chosen_id, own_text, dwell_ms, NULLIF(native, '{}')::text FROM annotation_pathstep
WHERE annotation_id = ANY(%(ids)s) ORDER BY annotation_id, position
"""
RATINGS = """
SELECT annotation_id, step_id, state, rating, flagged, accepted, error_type, comment, NULLIF(dimensions, '{}')::text,
    NULLIF(spans, '[]')::text
FROM annotation_steprating WHERE annotation_id = ANY(%(ids)s) ORDER BY annotation_id, ordinal, id
"""
VOTES = """
SELECT rating.annotation_id, step.solution_id, step.position, step.alternative, rating.rating, problem.domain
FROM annotation_steprating rating JOIN annotation_step step ON step.id = rating.step_id
JOIN annotation_solution solution ON solution.id = step.solution_id
JOIN annotation_problem problem ON problem.id = solution.problem_id
WHERE rating.annotation_id = ANY(%(ids)s) AND rating.rating IS NOT NULL
ORDER BY rating.annotation_id, rating.ordinal, rating.id
"""
_Fetch = Callable[..., list[Any]]
Places = dict[int, tuple[int, int]]  # of steps: position and alternative
Rows = Sequence[Any]  # of one of the statements above: tuples of the most frequent ones, else named tuples


class Texts(NamedTuple):
    """Which free texts by people are read: the critiques that they wrote, and their comments and reasons.

    By default none, because their wording could identify the person.
    """

    critiques: bool = False
    comments: bool = False


NO_TEXTS = Texts()


class Label(NamedTuple):
    """An annotation as in a record, with the fields that the filters use.

    `labeller` is the source and, for a member, the membership.
    """

    id: int
    labeller: tuple[int, int | None]
    revision: int
    set_aside: bool
    annotation: RecordAnnotation


class StoredSolution(NamedTuple):
    """A solution as a record without labels, and its labels, oldest first."""

    id: int
    record: Record
    labels: list[Label]


def read_solutions(ids: Sequence[int], *, batches_set_aside: bool, texts: Texts = NO_TEXTS) -> list[StoredSolution]:
    """The solutions with these ids, in this order, with their labels.

    Labels of one time are in the order of revision, source and pseudonym, which is the same in every installation.
    Without `batches_set_aside`, no label is set aside.
    """
    steps, critiques = _by_first_column(STEPS, ids, fetch_all), _by_first_column(CRITIQUES, ids)
    places = {pk: (position, alternative) for rows in steps.values() for _, pk, position, alternative, *_ in rows}
    rows_of = _by_first_column(LABELS, ids)
    label_ids = [row.id for rows in rows_of.values() for row in rows]
    aside = _set_aside(label_ids) if batches_set_aside else set()
    paths, ratings = _by_first_column(PATH, label_ids, fetch_all), _by_first_column(RATINGS, label_ids, fetch_all)

    def label(row: Any) -> Label:
        path = _path(paths.get(row.id, ()), ratings.get(row.id, ()), places, texts)
        return _label(row, aside, path, comments=texts.comments)

    solutions = {solution.id: solution for solution in fetch_named(SOLUTIONS, {"ids": ids}, binary=True)}
    return [
        StoredSolution(
            pk,
            _record(solutions[pk], steps.get(pk, ()), critiques.get(pk, ())),
            [label(row) for row in rows_of.get(pk, ())],
        )
        for pk in ids
    ]


def read_votes(ids: Sequence[int], *, batches_set_aside: bool) -> Iterator[tuple[Label, list[Vote]]]:
    """The labels of these solutions without paths, each with its ratings as votes."""
    rows = [row for rows in _by_first_column(LABELS, ids).values() for row in rows]
    label_ids = [row.id for row in rows]
    aside = _set_aside(label_ids) if batches_set_aside else set()
    votes = _by_first_column(VOTES, label_ids)
    for row in rows:
        label = _label(row, aside, [])
        person = person_of(label.annotation)
        yield (
            label,
            [
                Vote(vote.solution_id, vote.position, person, vote.rating, vote.alternative, vote.domain)
                for vote in votes.get(row.id, ())
            ],
        )


def _set_aside(label_ids: Sequence[int]) -> set[int]:
    return set(Annotation.objects.filter(is_set_aside(), pk__in=label_ids).values_list("pk", flat=True))


def _by_first_column(statement: str, ids: Sequence[int], fetch: _Fetch = fetch_named) -> Mapping[int, Rows]:
    """The rows of a statement, grouped by its first column, by which they are sorted."""
    return {key: list(rows) for key, rows in groupby(fetch(statement, {"ids": ids}, binary=True), itemgetter(0))}


def _record(solution: Any, steps: Rows, critiques: Rows) -> Record:
    critiques_of = {step: [row.text for row in rows] for step, rows in groupby(critiques, attrgetter("step_id"))}
    positions: list[list[Completion]] = []
    for _, pk, position, _, text, kind, added in steps:
        while len(positions) <= position:
            positions.append([])
        positions[position].append(Completion(text, kind, added, critiques_of.get(pk, [])))
    return Record(
        problem=solution.problem,
        positions=positions,
        source_group=solution.source_group,
        split=solution.split,
        domain=solution.domain,
        reference_answer=solution.reference_answer,
        reference_solution=solution.reference_solution,
        problem_extra=_object(solution.problem_extra),
        external_id=solution.external_id,
        generator=solution.generator,
        final_answer=solution.final_answer,
        final_answer_correct=solution.final_answer_correct,
        outcome_source=solution.outcome_source or None,
        provenance=None if solution.provenance == "{}" else msgspec.json.decode(solution.provenance, type=Provenance),
        extra=_object(solution.extra),
        multiplicity=solution.multiplicity,
    )


def _label(row: Any, aside: set[int], path: list[PathPosition], *, comments: bool = False) -> Label:
    stated = _object(row.stated)
    annotation = RecordAnnotation(
        source_kind=row.source_kind,
        finish_reason=row.finish_reason,
        path=path,
        source_name=row.source_name,
        source_detail=stated.get("source_detail") or _object(row.source_detail),
        annotator=row.pseudonym,
        revision=row.revision,
        first_error=row.first_error,
        progress=row.progress,
        total_ms=row.total_ms,
        submitted_at=row.submitted_at,
        lane=row.lane,
        generation=stated.get("generation") if row.generation is None else row.generation,
        inclusion=_inclusion(row, stated),
        guidelines=stated.get("guidelines") if row.guidelines is None else row.guidelines,
        adjudicates=row.adjudicates,
        reference_disputed=row.reference_disputed or stated.get("reference_disputed", False),
        native=_object(row.native),
        hint=_hint(row, stated),
        comment=row.comment if comments else "",
        reason=row.reason if comments else "",
    )
    return Label(row.id, (row.source_id, row.annotator_id), row.revision, row.id in aside, annotation)


def _inclusion(row: Any, stated: dict[str, Any]) -> Inclusion | None:
    if row.inclusion_probability is None:
        return msgspec.convert(stated["inclusion"], Inclusion | None) if "inclusion" in stated else None
    return Inclusion.of(row.inclusion_probability)


def _hint(row: Any, stated: dict[str, Any]) -> HintDraw | None:
    if row.hint_shown is None:
        return msgspec.convert(stated["hint"], HintDraw | None) if "hint" in stated else None
    return HintDraw(row.hint_shown, row.hint_model, [position for position, _ in msgspec.json.decode(row.hint_seen)])


def _path(path: Rows, ratings: Rows, places: Places, texts: Texts) -> list[PathPosition]:
    positions = {}
    for _, position, chosen_id, own_text, dwell_ms, native in path:
        chosen = None if chosen_id is None else places[chosen_id][1]
        place = positions[position] = PathPosition(position, chosen, own_text, dwell_ms)
        if native is not None:
            place.native = msgspec.json.decode(native)
    unchosen = False
    for _, step_id, state, value, flagged, accepted, error_type, comment, dimensions, spans in ratings:
        position, alternative = places[step_id]
        if position not in positions:
            positions[position], unchosen = PathPosition(position), True
        rating = Rating(alternative, state, value, flagged, error_type, "", {}, [], accepted)
        if texts.comments:
            rating.comment = comment
        if dimensions is not None:
            rating.dimensions = msgspec.json.decode(dimensions)
            if not texts.critiques:
                rating.dimensions.pop("critique", None)
        if spans is not None:
            rating.spans = _spans(spans, comments=texts.comments)
        positions[position].ratings.append(rating)
    # The rows of the path are in order.
    return [positions[position] for position in sorted(positions)] if unchosen else [*positions.values()]


def _spans(text: str, *, comments: bool) -> list[Span]:
    spans = msgspec.json.decode(text, type=list[Span])
    return spans if comments else [Span(span.start, span.end, span.error_type) for span in spans]


def _object(text: str) -> dict[str, Any]:
    return {} if text == "{}" else msgspec.json.decode(text)
