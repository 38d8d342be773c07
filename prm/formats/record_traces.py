"""Converts a record to a trace: the agreed path and the rated alternatives, with posteriors."""

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

import msgspec

from prm.formats.identity import solution_key, text_hash
from prm.formats.labels import rated_label
from prm.formats.path import Taken, consensus_path, taken_path
from prm.formats.record import Completion, Consensus, Record, RecordAnnotation, sampled
from prm.labels import step_labels
from prm.splitting import Splitting
from prm.traces import Alternative, LabelSource, Step, StepLabel, Trace
from prm.vocabulary import MACHINES, RATINGS, SourceKind, Split

Posteriors = dict[tuple[int, int], Consensus]  # by position and alternative

BLANK_LINES = Splitting("blank_lines", "drop")


def trace_of(record: Record) -> Trace:
    """The path that the record's annotations agree on, with the posteriors of its consensus.

    Its ids are keys of the content (see `identity`), so that they are the same in every installation.
    A step that an annotator wrote has no label. After the annotators' last step the sampled solution continues without
    labels; otherwise its length would reveal the error.
    """
    agreed = consensus_path(record)
    posteriors = {(c.position, c.alternative): c for c in record.consensus}
    path: list[tuple[Step, StepLabel | None]] = [
        (Step(taken.own_text or ""), None)
        if taken.alternative is None
        else _labelled(record, posteriors, taken.position, taken.alternative)
        for taken in agreed
    ]
    as_sampled = all(taken.alternative == 0 for taken in agreed)
    if as_sampled:
        rest = takewhile(lambda at: at and not at[0].added, record.positions[len(agreed) :])
        path += [(Step(at[0].text, at[0].kind), None) for at in rest]
    return Trace(
        id=solution_key(record),
        problem=record.problem,
        problem_id=text_hash(record.problem),
        source_group=record.source_group,
        split=record.split,  # type: ignore[arg-type]
        domain=record.domain,
        generator=record.generator,
        steps=[step for step, _ in path],
        labels=[label for _, label in path],
        alternatives=_alternatives(record, agreed, posteriors),
        sources=[LabelSource(a.source_kind, _name_of(a), a.first_error) for a in record.annotations],
        final_answer_correct=record.final_answer_correct if as_sampled else None,
        multiplicity=record.multiplicity,
    )


def _name_of(annotation: RecordAnnotation) -> str:
    """The name of a label's source: that of a machine's version, else a pseudonym."""
    machine = annotation.source_kind in MACHINES and annotation.source_name
    return machine or annotation.annotator or annotation.source_name


def record_of(trace: Trace) -> Record:
    """The record of a trace, with its labels as one label of the most probable ratings.

    Alternatives and posteriors are left out. The label's kind is that of its sources if they share one, else consensus.
    """
    answer = trace.meta.get("final_answer")
    record = Record(
        problem=trace.problem,
        positions=[[Completion(step.text, step.kind)] for step in trace.steps],  # type: ignore[arg-type]
        source_group=trace.source_group,
        split=trace.split,
        domain=trace.domain,
        reference_answer=trace.reference_answer,
        external_id=trace.id,
        generator=trace.generator,
        final_answer=None if answer is None else str(answer),
        final_answer_correct=trace.final_answer_correct,
        multiplicity=trace.multiplicity,
    )
    if any(labels := step_labels(trace)):
        kinds = {source.kind for source in trace.sources}
        names = {source.name for source in trace.sources}
        kind: SourceKind = kinds.pop() if len(kinds) == 1 else "consensus"
        name = names.pop() if len(names) == 1 else "traces"
        ratings = [None if label is None else label.rating for label in labels]
        kinds_of_steps = [at[0].kind for at in record.positions]
        record.annotations = [rated_label(ratings, kind=kind, name=name, kinds=kinds_of_steps)]
    return record


def is_labelled(trace: Trace) -> bool:
    """Whether a step of the trace or one of its alternatives has a label."""
    return any(trace.labels or ()) or any(beside.label for beside in trace.alternatives)


def trace_from_file(record: Record, *, name: str, split: Split) -> Trace:
    """The trace of a record in any format.

    Its id is the record's, else `name`, and its split the record's, else `split`. A posterior is the record's own, else
    the share of each rating among the labels.
    """
    if record.solution_text is not None:
        pieces = BLANK_LINES.split(record.solution_text).steps
        record = msgspec.structs.replace(record, positions=sampled(pieces))
    settled = record if record.consensus else msgspec.structs.replace(record, consensus=_shares(record.annotations))
    trace = trace_of(settled)
    errors = {annotation.first_error for annotation in record.annotations}
    error = errors.pop() if len(errors) == 1 and not record.consensus else None
    return msgspec.structs.replace(
        trace,
        id=record.external_id or name,
        split=record.split or split,
        labels=trace.labels if is_labelled(trace) else None,
        first_error=error if error is not None and error < len(trace.steps) else None,
        reference_answer=record.reference_answer,
        meta={} if record.final_answer is None else {"final_answer": record.final_answer},
    )


def _shares(annotations: Sequence[RecordAnnotation]) -> list[Consensus]:
    votes: dict[tuple[int, int], Counter[int]] = {}
    for annotation in annotations:
        for place in annotation.path:
            for rating in place.ratings:
                if rating.rating is not None:
                    votes.setdefault((place.position, rating.alternative), Counter())[rating.rating] += 1
    shares = []
    for (position, alternative), counts in sorted(votes.items()):
        total = counts.total()
        good, neutral, bad = (counts[rating] / total for rating in RATINGS)
        shares.append(Consensus(position, alternative, good, neutral, bad, votes=total))
    return shares


def _alternatives(record: Record, agreed: list[Taken], posteriors: Posteriors) -> list[Alternative]:
    """The rated completions outside the agreed path, in order.

    A rating depends on the earlier steps, so it counts only if its annotator was on the agreed path up to there.
    """
    on_path = {(taken.position, taken.alternative) for taken in agreed}
    beside: dict[tuple[int, int], Alternative] = {}
    for annotation in record.annotations:
        walked = taken_path(annotation.finish_reason, annotation.path)
        for place in annotation.path:
            before = _until(agreed, place.position)
            if _until(walked, place.position) != before:
                continue
            for key in {(place.position, rating.alternative) for rating in place.ratings} - on_path:
                if key in posteriors:
                    beside[key] = Alternative(len(before), *_labelled(record, posteriors, *key))
    return [beside[key] for key in sorted(beside)]


def _until(path: list[Taken], position: int) -> list[tuple[int, int | None, str | None]]:
    return [(taken.position, taken.alternative, taken.own_text) for taken in path if taken.position < position]


def _labelled(record: Record, posteriors: Posteriors, position: int, alternative: int) -> tuple[Step, StepLabel | None]:
    completion, agreed = record.positions[position][alternative], posteriors.get((position, alternative))
    step = Step(completion.text, completion.kind)
    if agreed is None:
        return step, None
    return step, StepLabel(good=agreed.good, neutral=agreed.neutral, bad=agreed.bad, weight=agreed.weight)
