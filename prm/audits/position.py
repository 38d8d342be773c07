"""Audits whether the score depends on a step's position: late steps are more often wrong, a known shortcut."""

from random import Random

from prm.audits.finding import Chart, Check, Figure, Finding, Series, conclude
from prm.audits.ranking import Ranking, above_chance, clear, rank_steps
from prm.audits.subject import AUDITS, ENOUGH, Subject
from prm.evaluation.metrics import Metric, format_metric
from prm.evaluation.report import POSITION_BINS, in_ranges
from prm.labels import first_error
from prm.messages import Message

DRIFT = 0.10  # of the mean score of right steps, from the first third to the last


@AUDITS.register("position")
def audit(subject: Subject, rng: Random) -> Finding:
    """AUROC by position with its baselines, and the mean score of right steps by position."""
    steps = subject.steps
    whole = rank_steps(subject)
    figures = [whole.figure("all positions", "AUROC")]
    names, by_place, drifts, wrong = [], [], [], []
    for name, inside in in_ranges(steps.index + 1, POSITION_BINS):
        right, errors = inside & (steps.error == 0), inside & (steps.error == 1)
        if right.sum() < ENOUGH:
            continue
        names.append(name)
        drifts.append(subject.mean(steps.p[right], steps.solution[right]))
        wrong.append(subject.mean(steps.p[errors], steps.solution[errors]))
        figures.append(
            Figure(
                name=f"right steps at {names[-1]}", value=drifts[-1], n=int(right.sum()), of="steps", group="Mean score"
            )
        )
        by_place.append(rank_steps(subject, inside))
    figures[1:1] = [ranking.figure(f"position {name}", "AUROC") for name, ranking in zip(names, by_place, strict=True)]
    known = [(name, ranking) for name, ranking in zip(names, by_place, strict=True) if ranking.is_ample]
    drift, n_right = _drift(subject)
    figures.append(
        Figure(
            name="last third minus first third, right solutions",
            value=drift,
            n=n_right,
            of="solutions",
            group="Mean score",
            signed=True,
        )
    )
    return conclude(
        audit="position",
        title=Message("audit_position"),
        question="Does the score read the step, or its place in the solution?",
        when_ok=Message("audit_position_ok"),
        checks=[
            above_chance(whole, Message("all_positions"), shortcut="fail"),
            _each_place(known),
            _drift_check(drift, n_right),
        ],
        figures=figures,
        charts=[
            Chart(
                title="AUROC by position",
                kind="dots",
                value="AUROC",
                reference=0.5,
                series=[
                    Series("scores", [name for name, _ in known], [ranking.scores for _, ranking in known]),
                    Series("length alone", [name for name, _ in known], [ranking.length_only for _, ranking in known]),
                ],
            ),
            Chart(
                title="Mean score by position",
                kind="dots",
                value="mean p(good)",
                span=(0, 1),
                series=[Series("right steps", names, drifts), Series("first errors", names, wrong)],
            ),
        ],
        notes=["Positions count from 1. Within a bin of one position, position alone cannot rank steps (.5)."],
    )


def _each_place(known: list[tuple[str, Ranking]]) -> Check:
    rule = f"AUROC clear of 0.5 at every position with {ENOUGH} errors or more, else attention"
    blind = [name for name, ranking in known if not clear(ranking.scores, 0.5)]
    if not known:
        return Check("cannot tell", rule, Message("no_position_has_errors", least=ENOUGH))
    if blind:
        words = Message("errors_not_separated_at_positions", places=", ".join(blind))
        return Check("attention", rule, words)
    words = Message("errors_separated_at_positions", n=len(known))
    return Check("ok", rule, words)


def _drift(subject: Subject) -> tuple[Metric, int]:
    """Within right solutions: the mean score of the last third of the steps minus that of the first third."""
    moves, rows = [], []
    for row, (trace, score) in enumerate(zip(subject.traces, subject.scores, strict=True)):
        p = [one for one in score.mean if one is not None]
        if first_error(trace) == -1 and len(p) == len(trace.steps) >= 3:
            third = len(p) // 3
            moves.append(sum(p[-third:]) / third - sum(p[:third]) / third)
            rows.append(row)
    return subject.mean(moves, rows), len(rows)


def _drift_check(drift: Metric, n: int) -> Check:
    rule = f"The mean score of correct solutions drifts by less than {DRIFT} from first third to last, else attention"
    if n < ENOUGH or drift.low is None or drift.high is None:
        return Check("cannot tell", rule, Message("too_few_long_right_solutions", n=n))
    moved = format_metric(drift, signed=True)
    if drift.low > DRIFT or drift.high < -DRIFT:
        return Check("attention", rule, Message("score_drifts_over_positions", moved=moved))
    return Check("ok", rule, Message("score_steady_over_positions", moved=moved))
