"""Audits whether the model transfers to a domain or generator that training never saw.

It trains one model without each domain and each generator, and one with all of them, each on the same numbers of
labelled and of unread solutions, so that a loss is not due to less data.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

import numpy as np

from prm.audits.finding import Chart, Check, Figure, Finding, Series, conclude
from prm.audits.ranking import Ranking, clear, rank_steps
from prm.audits.subject import AUDITS, ENOUGH, Subject
from prm.evaluation.metrics import Array, Metric, format_metric, ranking, resample
from prm.labels import problem_of, step_labels
from prm.messages import Message, joined
from prm.traces import Trace

MOST = 600  # labelled solutions of a model, and as many unread ones
FEW = 50  # labelled solutions; with fewer, nothing is trained
HELD = 3  # ratio of a model's labelled solutions to its calibration solutions, at least
LOSS = 0.05  # of AUROC
TITLE = Message("audit_transfer")
QUESTION = "Does the model hold in a domain, or for a generator, that training never saw?"
RULE = f"AUROC of each unseen domain and generator is clear of 0.5, else fail; no clear loss of {LOSS}, else attention"


class TrainingSet(NamedTuple):
    """Training solutions by what they teach: their steps' labels, a grade or estimates alone, or the threshold."""

    labelled: list[Trace]
    unread: list[Trace]
    held: list[Trace]

    @classmethod
    def of(cls, traces: Sequence[Trace]) -> "TrainingSet":
        pool = [trace for trace in traces if trace.split == "pool"]
        return cls(
            [trace for trace in pool if any(step_labels(trace))],
            [trace for trace in pool if not any(step_labels(trace))],
            [trace for trace in traces if trace.split == "calibration"],
        )

    def without(self, kind: str, name: str) -> "TrainingSet":
        """Those that are not of this domain or generator."""
        return TrainingSet(*([trace for trace in part if getattr(trace, kind) != name] for part in self))


@AUDITS.register("transfer")
def audit(subject: Subject, rng: Random) -> Finding:
    """AUROC on each domain and generator, of a model that never saw it beside one that did."""
    if subject.training is None:
        return _nothing(Message("transfer_needs_training_data"))
    audited = {problem_of(trace) for trace in subject.traces}
    traces = [trace for trace in subject.training.traces() if problem_of(trace) not in audited]
    known = TrainingSet.of(traces)
    parts = _parts(subject, traces)
    remaining = [known.without(*part) for part in parts]
    n_labelled, n_unread = (min([MOST, *(len(one[place]) for one in remaining)]) for place in (0, 1))
    n_taught = n_labelled if known.labelled else n_unread  # a model of final answers alone needs no labels
    if not parts or n_taught < FEW:
        return _nothing(Message("nothing_to_leave_out"))
    sizes = (n_labelled, n_unread, n_taught // HELD)
    control = _learn(subject, known, sizes, rng, "all")
    comparisons: dict[str, tuple[Ranking, Ranking, Metric]] = {}
    for part, others in zip(parts, remaining, strict=True):
        left_out = _learn(subject, others, sizes, rng, f"without {part[1]}")
        comparisons[_named(*part)] = _compared(*part, left_out, control)
    return conclude(
        audit="transfer",
        title=TITLE,
        question=QUESTION,
        checks=[_check(comparisons)],
        when_ok=Message("audit_transfer_ok"),
        figures=[
            figure
            for name, (without, seen, loss) in comparisons.items()
            for figure in (
                without.figure("never seen", name),
                seen.figure("seen", name),
                Figure(name="loss", value=loss, n=without.n_steps, of="steps", group=name, signed=True),
            )
        ],
        charts=[
            Chart(
                title="AUROC of a part when unseen and when seen",
                kind="dots",
                value="AUROC",
                reference=0.5,
                series=[
                    Series("never seen", list(comparisons), [one.scores for one, _, _ in comparisons.values()]),
                    Series("seen", list(comparisons), [one.scores for _, one, _ in comparisons.values()]),
                    Series("length alone", list(comparisons), [one.length_only for one, _, _ in comparisons.values()]),
                ],
            )
        ],
        notes=[
            f"Every model learned from {n_labelled} labelled and {n_unread} unread solutions, heads on the frozen "
            "backbone; problems under audit were left out of all. The backbone itself may have read such text before.",
            "These are new models with less data than the audited one: compare them only with each other.",
        ],
    )


def _nothing(why: str) -> Finding:
    return conclude(
        audit="transfer", title=TITLE, question=QUESTION, checks=[Check("cannot tell", RULE, why)], when_ok=""
    )


def _named(kind: str, name: str) -> str:
    return Message("domain_part", name=name) if kind == "domain" else Message("generator_part", name=name)


def _parts(subject: Subject, known: Sequence[Trace]) -> list[tuple[str, str]]:
    """("domain", name) and ("generator", name) of those in both training and audit, if training has others too."""
    parts = []
    for kind in ("domain", "generator"):
        trained = {getattr(trace, kind) for trace in known}
        shared = sorted(trained & {getattr(trace, kind) for trace in subject.traces})
        parts += [(kind, name) for name in shared if len(trained) > 1]
    return parts


def _learn(subject: Subject, known: TrainingSet, sizes: Sequence[int], rng: Random, words: str) -> Subject:
    """The audited solutions as scored by a model that learned from at most `sizes` solutions of each kind."""
    assert subject.training is not None
    subject.say(f"transfer: training on {sizes[0]} labelled and {sizes[1]} unread solutions, {words}")
    drawn = [trace for part, n in zip(known, sizes, strict=True) for trace in rng.sample(part, min(n, len(part)))]
    return replace(subject, scores=subject.training.learn(drawn)(subject.traces), temperature=None)


def _compared(kind: str, name: str, left_out: Subject, control: Subject) -> tuple[Ranking, Ranking, Metric]:
    """Rankings of the part's steps by the model that never saw it and by the other, and the loss of AUROC."""
    of = np.array([getattr(trace, kind) == name for trace in control.traces])
    without, seen = (rank_steps(one, of[one.steps.solution]) for one in (left_out, control))
    inside = of[control.steps.solution]

    def measure(weights: Array) -> dict[str, Array]:
        ours, theirs = (
            ranking(1 - one.steps.p[inside], one.steps.error[inside], weights)[0] for one in (left_out, control)
        )
        return {"loss": theirs - ours}

    return without, seen, resample(measure, control.draws, control.owner[inside])["loss"]


def _check(comparisons: dict[str, tuple[Ranking, Ranking, Metric]]) -> Check:
    known = {name: one for name, one in comparisons.items() if one[0].is_ample}
    if not known:
        return Check("cannot tell", RULE, Message("no_part_has_errors", least=ENOUGH))
    blind = [name for name, (without, _, _) in known.items() if not clear(without.scores, 0.5)]
    if blind:
        return Check("fail", RULE, Message("unseen_parts_not_judged", parts=joined(blind, "comma_list")))
    lost = [
        Message("part_with_loss", part=name, loss=format_metric(loss, signed=True))
        for name, (_, _, loss) in known.items()
        if clear(loss, LOSS)
    ]
    if lost:
        return Check("attention", RULE, Message("unseen_parts_judged_worse", parts=joined(lost, "comma_list")))
    return Check("ok", RULE, Message("parts_judged_alike", n=len(known)))
