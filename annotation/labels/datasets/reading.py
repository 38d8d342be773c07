"""Solutions with their labels out of the tables, many at a time, as plain rows: a snapshot reads tens for each."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from annotation.core.statements import fetch_all
from annotation.formats.provenance import Provenance
from annotation.formats.record import Completion, HintDraw, PathPosition, Rating, Record, RecordAnnotation, Span
from annotation.labels.quality.batches import is_set_aside
from annotation.models import Annotation

# JSON comes as text; almost all of it is empty and is not read.
SOLUTIONS = """
SELECT solution.id, problem.id, problem.text, problem.source_group, solution.split, problem.domain,
    problem.reference_answer, problem.reference_solution, problem.extra, solution.external_id, solution.generator,
    solution.final_answer, solution.final_answer_correct, solution.outcome_source, solution.provenance, solution.extra
FROM annotation_solution solution JOIN annotation_problem problem ON problem.id = solution.problem_id
WHERE solution.id = ANY(%(ids)s) ORDER BY solution.id
"""
STEPS = """
SELECT solution_id, id, position, alternative, text, kind FROM annotation_step
WHERE solution_id = ANY(%(ids)s) ORDER BY solution_id, position, alternative
"""
CRITIQUES = """
SELECT step.solution_id, critique.step_id, critique.text
FROM annotation_critique critique JOIN annotation_step step ON step.id = critique.step_id
WHERE step.solution_id = ANY(%(ids)s) ORDER BY step.solution_id, critique.step_id, critique.ordinal
"""
LABELS = """
SELECT label.solution_id, label.id, label.source_id, label.annotator_id, label.revision,
    source.kind, source.name, source.detail, member.pseudonym, label.finish_reason, label.first_error, label.progress,
    label.total_ms, label.submitted_at, label.lane, generation.number, label.adjudicates,
    coalesce(dispute.state <> 'withdrawn', false), label.native, hint.shown, version.number, hint.seen
FROM annotation_annotation label
JOIN annotation_labelsource source ON source.id = label.source_id
LEFT JOIN annotation_membership member ON member.id = label.annotator_id
LEFT JOIN annotation_dispute dispute ON dispute.annotation_id = label.id
LEFT JOIN annotation_queueitem item ON item.id = label.item_id
LEFT JOIN annotation_generation generation ON generation.id = item.generation_id
LEFT JOIN annotation_lease lease ON lease.annotator_id = label.annotator_id AND lease.solution_id = label.solution_id
LEFT JOIN annotation_hint hint ON hint.lease_id = lease.id
LEFT JOIN annotation_modelversion version ON version.id = hint.model_version_id
WHERE label.solution_id = ANY(%(ids)s) ORDER BY label.solution_id, label.id
"""
PATH = """
SELECT annotation_id, position, chosen_id, own_text, dwell_ms, native FROM annotation_pathstep
WHERE annotation_id = ANY(%(ids)s) ORDER BY annotation_id, position
"""
RATINGS = """
SELECT annotation_id, step_id, state, rating, flagged, accepted, error_type, dimensions, spans
FROM annotation_steprating WHERE annotation_id = ANY(%(ids)s) ORDER BY annotation_id, ordinal, id
"""
WORDS = """
SELECT annotation_id, rating, count(*) FROM annotation_steprating
WHERE annotation_id = ANY(%(ids)s) AND rating IS NOT NULL GROUP BY annotation_id, rating
ORDER BY annotation_id
"""
Places = dict[int, tuple[int, int]]  # of steps: position and alternative
Rows = Sequence[Sequence[Any]]


class Label(NamedTuple):
    """An annotation as a record has it, and what decides whether it is taken."""

    id: int
    giver: tuple[int, int | None]
    revision: int
    set_aside: bool
    told: RecordAnnotation


def read_solutions(
    ids: Sequence[int], *, batches_set_aside: bool, written_critiques: bool = False
) -> list[tuple[Record, list[Label]]]:
    """Solutions by their ids in ascending order, without labels, each with all that was said of it, oldest first.

    Where no batch of the project's labels is set aside, no label is looked up among them. The critiques that people
    wrote, in words of their own, are left out unless they are asked for.
    """
    steps, critiques = _of(STEPS, ids), _of(CRITIQUES, ids)
    places = {row[1]: (row[2], row[3]) for rows in steps.values() for row in rows}
    said = _of(LABELS, ids)
    keys = [row[1] for rows in said.values() for row in rows]
    aside = _set_aside(keys) if batches_set_aside else set()
    path, ratings = _of(PATH, keys), _of(RATINGS, keys)

    def label(row: Sequence[Any]) -> Label:
        _, key, source, annotator, revision, *told = row
        positions = _path(path.get(key, ()), ratings.get(key, ()), places, written_critiques)
        return Label(key, (source, annotator), revision, key in aside, _annotation(told, positions))

    return [
        (_record(row, steps.get(row[0], ()), critiques.get(row[0], ())), [label(one) for one in said.get(row[0], ())])
        for row in fetch_all(SOLUTIONS, {"ids": ids})
    ]


def read_words(ids: Sequence[int], *, batches_set_aside: bool) -> Iterator[tuple[Label, dict[int, int]]]:
    """The labels of these solutions without their paths, each with how often it gives which rating."""
    said = [row for rows in _of(LABELS, ids).values() for row in rows]
    keys = [row[1] for row in said]
    aside = _set_aside(keys) if batches_set_aside else set()
    words = {key: {rating: n for _, rating, n in rows} for key, rows in _of(WORDS, keys).items()}
    for _, key, source, annotator, revision, *told in said:
        yield Label(key, (source, annotator), revision, key in aside, _annotation(told, [])), words.get(key, {})


def _set_aside(keys: Sequence[int]) -> set[int]:
    return set(Annotation.objects.filter(is_set_aside(), pk__in=keys).values_list("pk", flat=True))


def _of(statement: str, ids: Sequence[int]) -> Mapping[int, Rows]:
    """The rows of a statement by what they belong to, which stands first in them."""
    return {key: list(rows) for key, rows in groupby(fetch_all(statement, {"ids": ids}), itemgetter(0))}


def _record(row: Sequence[Any], steps: Rows, critiques: Rows) -> Record:
    given = {step: [text for _, _, text in said] for step, said in groupby(critiques, itemgetter(1))}
    positions: list[list[Completion]] = []
    for _, step, position, _, text, kind in steps:
        while len(positions) <= position:
            positions.append([])
        positions[position].append(Completion(text, kind, critiques=given.get(step, [])))
    (
        solution, problem, text, source_group, split, domain, reference_answer, reference_solution, problem_extra,
        external_id, generator, final_answer, correct, outcome_source, provenance, extra,
    ) = row  # fmt: skip
    return Record(
        problem=text,
        positions=positions,
        problem_id=problem,
        solution_id=solution,
        source_group=source_group,
        split=split,
        domain=domain,
        reference_answer=reference_answer,
        reference_solution=reference_solution,
        problem_extra=_object(problem_extra),
        external_id=external_id,
        generator=generator,
        final_answer=final_answer,
        final_answer_correct=correct,
        outcome_source=outcome_source or None,
        provenance=None if provenance == "{}" else msgspec.json.decode(provenance, type=Provenance),
        extra=_object(extra),
    )


def _annotation(told: Sequence[Any], path: list[PathPosition]) -> RecordAnnotation:
    (
        kind, name, detail, pseudonym, finish, first_error, progress, total_ms, moment, lane, generation, adjudicates,
        disputed, native, *hint,
    ) = told  # fmt: skip
    return RecordAnnotation(
        source_kind=kind,
        finish_reason=finish,
        path=path,
        source_name=name,
        source_detail=_object(detail),
        annotator=pseudonym and str(pseudonym),
        first_error=first_error,
        progress=progress,
        total_ms=total_ms,
        submitted_at=moment,
        lane=lane,
        generation=generation,
        adjudicates=adjudicates,
        reference_disputed=disputed,
        native=_object(native),
        hint=_hint(*hint),
    )


def _hint(shown: bool | None, model: int, seen: str) -> HintDraw | None:
    return None if shown is None else HintDraw(shown, model, [position for position, _ in json.loads(seen)])


def _path(path: Rows, ratings: Rows, places: Places, written_critiques: bool) -> list[PathPosition]:
    found = {}
    for _, position, chosen, own_text, dwell_ms, native in path:
        alternative = None if chosen is None else places[chosen][1]
        found[position] = PathPosition(position, alternative, own_text, dwell_ms, [], _object(native))
    for _, step, state, rating, flagged, accepted, error_type, dimensions, spans in ratings:
        position, alternative = places[step]
        if position not in found:
            found[position] = PathPosition(position)
        beside = _object(dimensions)
        if not written_critiques:
            beside.pop("critique", None)
        given = Rating(
            alternative, state, rating, flagged, error_type, accepted=accepted, dimensions=beside, spans=_spans(spans)
        )
        found[position].ratings.append(given)
    return [found[position] for position in sorted(found)]


def _spans(text: str) -> list[Span]:
    """The places alone: what was said of them could tell who said it."""
    if text == "[]":
        return []
    return [Span(one.start, one.end, one.error_type) for one in msgspec.json.decode(text, type=list[Span])]


def _object(text: str) -> dict[str, Any]:
    return {} if text == "{}" else json.loads(text)
