"""The gate's decision, as a pure function of what was measured."""

from dataclasses import asdict, dataclass, field
from typing import Any

from annotation.core.wording import Said, as_json, counted, said


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
        """For JSON: `sentence` and `rival` in English, and under `said` for readers of any language."""
        sentences = {"sentence": self.sentence, "rival": self.rival}
        in_english = {name: str(one) for name, one in sentences.items()}
        return asdict(self) | in_english | {"said": {name: as_json(one) for name, one in sentences.items()}}


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
    rival = said("model {n}", n=champion) if champion is not None else said("the zero-label baseline")
    names = {"challenger": said("Model {n}", n=challenger), "rival": rival}
    if measured is None or solutions < least:
        promote = champion is None
        sentence = _unmeasured(promote, solutions, least, names)
        return Verdict(promote, sentence, rival, None, None, None, tolerance, solutions, 0, [], holdout_uses)
    better = measured.gain > 0
    sure = champion is None or measured.low > -tolerance
    return Verdict(
        promote=better and sure,
        sentence=_measured(
            measured, solutions, names, better=better, sure=sure, first=champion is None, tolerance=tolerance
        ),
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


def _measured(
    measured: Measured,
    solutions: int,
    names: dict[str, Said],
    *,
    better: bool,
    sure: bool,
    first: bool,
    tolerance: float,
) -> Said:
    """The sentence of a verdict on a measurement; `first` without a champion, `tolerance` as in `decide`."""
    values = names | {"figures": _figures(measured, solutions, names["rival"])}
    if better and first:
        return said("{challenger} is promoted: {figures}. No model served before, so the gain alone decides.", **values)
    if better and sure:
        return said(
            "{challenger} is promoted: {figures}. The policy tolerates a lower bound down to {least:+.1f} points.",
            least=_points(-tolerance),
            **values,
        )
    if first:
        return said(
            "{challenger} does not serve yet: {figures}. The next generation is drawn at random; label more.",
            **values,
        )
    if not better:
        return said("{challenger} is kept back, {rival} goes on serving: {figures}. It is no better.", **values)
    return said(
        "{challenger} is kept back, {rival} goes on serving: {figures}. "
        "It may be worse by more than the {most:.1f} points that the policy tolerates.",
        most=tolerance * 100,
        **values,
    )


def _figures(measured: Measured, solutions: int, rival: Said) -> Said:
    return said(
        "ProcessBench F1 {gain:+.1f} points against {rival} (95 % interval {low:+.1f} points to {high:+.1f} points) "
        "on {solutions} to {problems}",
        gain=_points(measured.gain),
        rival=rival,
        low=_points(measured.low),
        high=_points(measured.high),
        solutions=counted("{n} holdout solution", "{n} holdout solutions", n=solutions),
        problems=counted("{n} problem", "{n} problems", n=measured.problems),
    )


def _unmeasured(promote: bool, solutions: int, least: int, names: dict[str, Said]) -> Said:
    known = (
        counted(
            "only {n} holdout solution has a known first error and the gate needs {least}",
            "only {n} holdout solutions have a known first error and the gate needs {least}",
            n=solutions,
            least=least,
        )
        if solutions < least
        else said("no domain of the holdout has both right and wrong solutions labelled")
    )
    if promote:
        return said(
            "{challenger} is promoted without a measurement: {known}. It ranks the pool, and does not answer programs "
            "until a manager confirms it.",
            known=known,
            **names,
        )
    return said(
        "{challenger} is kept back and {rival} goes on serving: {known}. Label more of the holdout.",
        known=known,
        **names,
    )


def _points(share: float) -> float:
    """Of 100, to one digit, and never -0."""
    return round(share * 100, 1) + 0.0
