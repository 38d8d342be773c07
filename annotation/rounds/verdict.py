"""The gate's decision, as a pure function of what was measured."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Measured:
    """Challenger against its rival on the same label revisions of the holdout.

    Gains are differences of ProcessBench F1 in [0, 1]; `low` and `high` bound the 95 % interval of the
    bootstrap paired by problem, `samples` are its draws. `solutions` counts those with a known first error.
    """

    gain: float
    low: float
    high: float
    solutions: int
    problems: int
    samples: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Verdict:
    promote: bool
    sentence: str
    rival: str
    gain: float | None
    low: float | None
    high: float | None
    tolerance: float
    n: int
    n_problems: int
    samples: list[float]
    holdout_uses: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def decide(
    *,
    challenger: int,
    champion: int | None,
    measured: Measured | None,
    solutions: int,
    tolerance: float,
    least: int,
    holdout_uses: int,
) -> Verdict:
    """Promote if the gain is above zero and its lower bound above -`tolerance`.

    `challenger` and `champion` are version numbers. Without a champion the rival is the zero-label baseline and
    only the gain counts: nothing that serves can get worse. `solutions` of the holdout have a known first
    error; with fewer than `least`, or labels that allow no measurement (`measured` is None), a first model
    serves, since a random queue is the alternative, and a later one is kept back. `holdout_uses` counts the
    gates that this holdout has decided before.
    """
    rival = f"model {champion}" if champion is not None else "the zero-label baseline"
    name = f"Model {challenger}"
    if measured is None or solutions < least:
        promote = champion is None
        known = (
            f"only {solutions} holdout solutions have a known first error and the gate needs {least}"
            if solutions < least
            else "no domain of the holdout has both right and wrong solutions labelled"
        )
        sentence = (
            f"{name} serves without having been measured: {known}."
            if promote
            else f"{name} is kept back and {rival} goes on serving: {known}. Label more of the holdout."
        )
        return Verdict(promote, sentence, rival, None, None, None, tolerance, solutions, 0, [], holdout_uses)
    better = measured.gain > 0
    sure = champion is None or measured.low > -tolerance
    figures = (
        f"ProcessBench F1 {_points(measured.gain)} against {rival} "
        f"(95 % interval {_points(measured.low)} to {_points(measured.high)}) "
        f"on {solutions} holdout solutions to {measured.problems} problems"
    )
    if better and champion is None:
        sentence = f"{name} is promoted: {figures}. No model served before, so the gain alone decides."
    elif better and sure:
        sentence = f"{name} is promoted: {figures}. The policy tolerates a lower bound down to {_points(-tolerance)}."
    elif champion is None:
        sentence = f"{name} does not serve yet: {figures}. The next generation is drawn at random; label more."
    elif not better:
        sentence = f"{name} is kept back, {rival} goes on serving: {figures}. It is no better."
    else:
        sentence = (
            f"{name} is kept back, {rival} goes on serving: {figures}. "
            f"It may be worse by more than the {tolerance * 100:.1f} points that the policy tolerates."
        )
    return Verdict(
        promote=better and sure,
        sentence=sentence,
        rival=rival,
        gain=measured.gain,
        low=measured.low,
        high=measured.high,
        tolerance=tolerance,
        n=solutions,
        n_problems=measured.problems,
        samples=measured.samples,
        holdout_uses=holdout_uses,
    )


def _points(share: float) -> str:
    return f"{round(share * 100, 1) + 0.0:+.1f} points"  # + 0.0: never "-0.0"
