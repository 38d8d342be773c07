"""Audits whether the model transfers to a domain or generator that training never saw.

It trains one model without each domain and each generator, and one with all of them, each on the same number of
solutions, so that a loss is not due to less data.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np

from prm.audits.finding import Chart, Check, Figure, Finding, Series, conclude
from prm.audits.ranking import Ranking, clear, rank_steps
from prm.audits.subject import AUDITS, ENOUGH, Subject
from prm.evaluation.metrics import Array, Metric, format_metric, ranking, resample
from prm.labels import problem_of
from prm.messages import Message, joined
from prm.traces import Trace

MOST = 600  # training solutions of a model
FEW = 50  # training solutions; with fewer, nothing is trained
HELD = 3  # ratio of a model's training solutions to its calibration solutions, at least
LOSS = 0.05  # of AUROC
TITLE = Message("audit_transfer")
QUESTION = "Does the model hold in a domain, or for a generator, that training never saw?"
RULE = f"AUROC of each unseen domain and generator is clear of 0.5, else fail; no clear loss of {LOSS}, else attention"


@AUDITS.register("transfer")
def audit(subject: Subject, rng: Random) -> Finding:
    """AUROC on each domain and generator, of a model that never saw it beside one that did."""
    if subject.training is None:
        return _nothing(Message("transfer_needs_training_data"))
    audited = {problem_of(trace) for trace in subject.traces}
    known = [trace for trace in subject.training.traces() if problem_of(trace) not in audited]
    parts = _parts(subject, known)
    count = min([MOST, *(sum(one.split == "pool" for one in _without(known, *part)) for part in parts)])
    if not parts or count < FEW:
        return _nothing(Message("nothing_to_leave_out"))
    control = _learn(subject, known, count, rng, "all")
    comparisons: dict[str, tuple[Ranking, Ranking, Metric]] = {}
    for part in parts:
        left_out = _learn(subject, _without(known, *part), count, rng, f"without {part[1]}")
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
            f"Every model learned from {count} solutions, heads on the frozen backbone; problems under audit were left "
            "out of all. The backbone itself may have read such text before.",
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


def _without(traces: Sequence[Trace], kind: str, name: str) -> list[Trace]:
    return [trace for trace in traces if getattr(trace, kind) != name]


def _learn(subject: Subject, traces: Sequence[Trace], count: int, rng: Random, words: str) -> Subject:
    """The audited solutions as scored by a model that learned from `count` of the traces."""
    assert subject.training is not None
    subject.say(f"transfer: training on {count} solutions, {words}")
    pool = [trace for trace in traces if trace.split == "pool"]
    held = [trace for trace in traces if trace.split == "calibration"]
    chosen = [*rng.sample(pool, count), *rng.sample(held, min(len(held), count // HELD))]
    return replace(subject, scores=subject.training.learn(chosen)(subject.traces), temperature=None)


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
