"""Prepares labelled traces for training: checks them, splits them by source group, cuts them after the last label."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from prm.answers.noise import PRIOR_OF_ESTIMATES, STRENGTH, NoiseRates
from prm.config import TrainConfig
from prm.encoding import Encoded
from prm.errors import DataError
from prm.formats.mapping import Mapping
from prm.formats.trace_files import open_traces
from prm.labels import (
    Target,
    first_error,
    group_of,
    is_left_to_measure,
    problem_of,
    source_groups,
    step_labels,
    step_target,
    without_labels,
)
from prm.messages import Message
from prm.traces import Alternative, StepLabel, Trace

NO_ESTIMATES = NoiseRates(PRIOR_OF_ESTIMATES)
Content = tuple[str, tuple[str, ...]]  # of a solution: its problem and its steps
ENOUGH_HELD = 10  # erroneous and correct solutions each; with fewer, a threshold is noise


@dataclass(frozen=True)
class TrainingData:
    """The solutions to train on (`fit`), and those for early stopping, temperature and threshold (`held`).

    `held_from` is the origin of `held`: "calibration", "validation", or "none" if there are too few to fit anything.
    `left_out` counts solutions of the pool whose problem is also in the calibration split. `unread` are solutions of
    the pool with a graded final answer or Monte Carlo estimates, none of a problem or group of `held`. `estimated`
    pairs solutions of `fit` with their estimates. `to_measure` counts the solutions of a published benchmark that are
    left for measuring.
    """

    fit: list[Trace]
    held: list[Trace]
    held_from: str
    left_out: int
    unread: list[Trace]
    estimated: list[tuple[Trace, Trace]]
    to_measure: int = 0


def read_training_data(path: Path, config: TrainConfig, mapping: Mapping | None = None) -> TrainingData:
    """Read, check and split the labelled traces of a file.

    Raises DataError for a holdout trace, and if there is nothing to learn from.
    """
    labelled: list[Trace] = []
    graded: list[Trace] = []
    estimated: dict[Content, Trace] = {}
    to_measure = 0
    for trace in read_to_fit(path, mapping):
        if trace.split == "holdout":
            to_measure += 1
            continue
        if config.estimate_weight and config.process_weight and is_estimated(trace):
            if trace.split == "pool":
                estimated[_content(trace)] = trace
            trace = without_labels(trace, trace.steps)
        if _steps_known(trace, config) or _answer_known(trace, config):
            labelled.append(trace)
        if _only_graded(trace, config):
            graded.append(trace)
    held = [trace for trace in labelled if trace.split == "calibration"]
    checked = {key for trace in held for key in _problem_keys(trace)}
    pool = [trace for trace in labelled if trace.split == "pool"]
    fit = [trace for trace in pool if checked.isdisjoint(_problem_keys(trace))]
    left_out = len(pool) - len(fit)
    lacking = _lacking(fit, config)
    if lacking:
        raise DataError(Message("path_error", path=path, error=lacking))
    held_from = "calibration"
    if not _enough(held, config):
        fitted, validation = _set_aside(fit, config)
        held_from = "validation" if validation and not _lacking(fitted, config) else "none"
        if held_from == "validation":
            fit, held = fitted, held + validation
    read = {_content(trace) for trace in labelled if any(_labels(trace))}
    unread = [one for content, one in estimated.items() if content not in read]
    unread += [trace for trace in graded if _content(trace) not in estimated]
    both = [(trace, estimated[_content(trace)]) for trace in fit if _content(trace) in estimated]
    return TrainingData(fit, held, held_from, left_out, _apart(unread, held), both, to_measure)


def read_to_fit(path: Path, mapping: Mapping | None = None) -> Iterator[Trace]:
    """The traces of a file. Those of a published benchmark are the pool, without a fifth of the problems.

    That fifth is left for measuring (`is_left_to_measure`) and stays holdout. Raises DataError for another holdout
    trace.
    """
    file = open_traces(path, mapping)
    for _, trace in file.read():
        if trace.split == "holdout" and file.split != "holdout":
            raise DataError(Message("holdout_in_training_data", path=path, id=trace.id))
        if trace.split == "holdout" and not is_left_to_measure(trace):
            trace = msgspec.structs.replace(trace, split="pool")
        yield trace


class Document(NamedTuple):
    """One training text: the trace up to its last label, the index of its solution, and its source group.

    Of a labelled solution, `flawless` is 1 if it has no error and else 0, and `before_error` is the share of its steps
    before the first one. Of an unread one, `right` is the grade, or what the last estimate says. `grade` is the chance
    at even odds that no step is an error, given the grade; `estimates` has for each step the chance that no step up to
    it is one, given its estimate. None is unknown.
    """

    trace: Trace
    owner: int
    group: str
    flawless: float | None = None
    before_error: float | None = None
    right: bool | None = None
    grade: float | None = None
    estimates: Sequence[float | None] = ()


def documents(traces: Sequence[Trace], config: TrainConfig) -> list[Document]:
    """Each solution's path, and the path up to each rated alternative with the alternative as the last step.

    An alternative's document has a label for its last step only; the path's document has the others.
    """
    parts = []
    for owner, (trace, group) in enumerate(zip(traces, source_groups(traces), strict=True)):
        parts.append(Document(_supervised_part(trace, config), owner, group, *_soundness(trace)))
        for alternative in trace.alternatives:
            if alternative.label is not None and alternative.label.weight > 0 and config.process_weight:
                parts.append(Document(_with_alternative(trace, alternative), owner, group))
    return parts


def as_documents(traces: Sequence[Trace]) -> list[Document]:
    """Each solution's complete path, which is how scoring reads the held part."""
    return [Document(trace, owner, group_of(trace), *_soundness(trace)) for owner, trace in enumerate(traces)]


def unread_documents(
    traces: Sequence[Trace], noise: NoiseRates, owners: int, estimate_noise: NoiseRates = NO_ESTIMATES
) -> list[Document]:
    """Unread solutions that teach by the grade of their answer, or by Monte Carlo estimates.

    `owners` is the number of solutions before them. An estimate of the last step is left out if its grade is known,
    because it says the same.
    """
    parts = []
    shares_right = _drawn_right(traces)
    for owner, (trace, group) in enumerate(zip(traces, source_groups(traces), strict=True), start=owners):
        right, misled = trace.final_answer_correct, estimate_noise.of(trace.domain, trace.generator)
        labels = step_labels(trace) if is_estimated(trace) else []
        shares = [None if label is None else label.good for label in labels]
        if right is not None:
            shares[len(trace.steps) - 1 :] = []
        known = [share for share in shares if share is not None]
        source = trace.domain, trace.generator
        grade = None if right is None else noise.of(*source).evidence_of_grade(right, shares_right[source])
        estimates = [None if share is None else misled.evidence_of_estimate(share) for share in shares]
        side = known[-1] > 0.5 if right is None else right
        unread = msgspec.structs.replace(without_labels(trace, trace.steps), final_answer_correct=None, alternatives=[])
        parts.append(Document(unread, owner, group, right=side, grade=grade, estimates=estimates))
    return parts


def _drawn_right(traces: Sequence[Trace]) -> dict[tuple[str, str], float]:
    """The share of right grades that batches draw from each domain and generator, of half right ones in all.

    It is shrunk to one half with the weight of STRENGTH solutions.
    """
    counts = Counter((trace.domain, trace.generator, trace.final_answer_correct) for trace in traces)
    of_side = {side: sum(n for (*_, right), n in counts.items() if right is side) for side in (True, False)}
    half = (of_side[True] + of_side[False]) / 2
    shares = {}
    for domain, generator, _ in counts:
        right, wrong = (
            STRENGTH / 2 + half * counts[domain, generator, side] / max(1, n) for side, n in of_side.items()
        )
        shares[domain, generator] = right / (right + wrong)
    return shares


def is_estimated(trace: Trace) -> bool:
    """Whether the trace's step labels are Monte Carlo estimates alone."""
    kinds = {source.kind for source in trace.sources}
    return kinds == {"monte_carlo"} and any(step_labels(trace))


def only_usable(unread: Sequence[Document], encoded: Sequence[Encoded]) -> tuple[list[Document], list[Encoded]]:
    """The documents whose steps all fit the context, because the grade says nothing of a part.

    It returns none unless there are both right and wrong ones, because half of each batch is right and half wrong.
    """
    whole = [pair for pair in zip(unread, encoded, strict=True) if len(pair[1].spans) == pair[1].n_steps]
    if len({document.right for document, _ in whole}) < 2:
        return [], []
    return [document for document, _ in whole], [item for _, item in whole]


def _soundness(trace: Trace) -> tuple[float, float] | tuple[None, None]:
    """Whether the solution has no error, and the share of its steps before the first one."""
    error = first_error(trace)
    if error is None:
        return None, None
    return float(error == -1), 1.0 if error == -1 else error / len(trace.steps)


def _supervised_part(trace: Trace, config: TrainConfig) -> Trace:
    """The trace up to its last label, since later steps cannot change a score."""
    labels = step_labels(trace)
    ends = config.outcome_weight > 0 and trace.final_answer_correct is not None
    end = len(labels) if ends else 1 + max((k for k, label in enumerate(labels) if label is not None), default=-1)
    known = trace.final_answer_correct if ends else None
    return msgspec.structs.replace(
        trace,
        steps=trace.steps[:end],
        labels=labels[:end],
        first_error=None,
        final_answer_correct=known,
        alternatives=[],
    )


def _with_alternative(trace: Trace, alternative: Alternative) -> Trace:
    before = alternative.position
    return msgspec.structs.replace(
        trace,
        steps=[*trace.steps[:before], alternative.step],
        labels=[*[None] * before, alternative.label],
        first_error=None,
        final_answer_correct=None,
        alternatives=[],
    )


def _steps_known(trace: Trace, config: TrainConfig) -> bool:
    return config.process_weight > 0 and any(_target(label, config).weight > 0 for label in _labels(trace))


def _answer_known(trace: Trace, config: TrainConfig) -> bool:
    return config.outcome_weight > 0 and trace.final_answer_correct is not None and bool(trace.steps)


def _only_graded(trace: Trace, config: TrainConfig) -> bool:
    """Whether nobody has labelled this solution of the pool, and its final answer may teach the step heads."""
    learns = config.graded_weight > 0 and config.process_weight > 0
    graded = trace.final_answer_correct is not None and bool(trace.steps)
    return learns and graded and trace.split == "pool" and not any(_labels(trace))


def _apart(unread: list[Trace], held: list[Trace]) -> list[Trace]:
    """The unread solutions that share neither problem nor source group with the held ones."""
    checked = {key for trace in held for key in (*_problem_keys(trace), group_of(trace))}
    return [trace for trace in unread if checked.isdisjoint((*_problem_keys(trace), group_of(trace)))]


def _lacking(traces: list[Trace], config: TrainConfig) -> str:
    """Why nothing can be learned from these traces; empty if something can."""
    if config.process_weight:
        targets = [target for trace in traces for label in _labels(trace) if (target := _target(label, config)).weight]
        if not targets:
            return Message("no_labelled_step_in_pool")
        if all(target.good >= 0.5 for target in targets):
            return Message("no_bad_step")
    if config.outcome_weight:
        answers = {trace.final_answer_correct for trace in traces if _answer_known(trace, config)}
        if answers != {True, False}:
            return Message("outcome_weight_needs_both_kinds")
    return ""


def _labels(trace: Trace) -> list[StepLabel | None]:
    """The labels of the path and of the alternatives."""
    return [*step_labels(trace), *(alternative.label for alternative in trace.alternatives)]


def _target(label: StepLabel | None, config: TrainConfig) -> Target:
    """The target of a label; with three classes a neutral label counts under every policy."""
    target = step_target(label, config.neutral)
    return target._replace(weight=label.weight) if label is not None and config.classes == 3 else target


def _content(trace: Trace) -> Content:
    return trace.problem, tuple(step.text for step in trace.steps)


def _problem_keys(trace: Trace) -> tuple[str, str]:
    return problem_of(trace), trace.problem


def _enough(held: list[Trace], config: TrainConfig) -> bool:
    if config.process_weight:
        errors = [first_error(trace) for trace in held]
        wrong, right = sum(error is not None and error >= 0 for error in errors), errors.count(-1)
    else:
        answers = [trace.final_answer_correct for trace in held]
        wrong, right = answers.count(False), answers.count(True)
    return min(wrong, right) >= ENOUGH_HELD


def _set_aside(pool: list[Trace], config: TrainConfig) -> tuple[list[Trace], list[Trace]]:
    """Set aside random source groups until the share is reached, or none if there are too few groups."""
    group_of_each = source_groups(pool)
    sizes = Counter(group_of_each)
    groups = sorted(sizes)
    random.Random(config.seed).shuffle(groups)
    wanted = config.validation_share * len(pool)
    if len(groups) < 5 or wanted < 2:
        return pool, []
    aside: set[str] = set()
    for group in groups:
        if sum(sizes[name] for name in aside) >= wanted:
            break
        if sizes[group] <= 2 * wanted:
            aside.add(group)
    parted = list(zip(pool, group_of_each, strict=True))
    return [t for t, group in parted if group not in aside], [t for t, group in parted if group in aside]
