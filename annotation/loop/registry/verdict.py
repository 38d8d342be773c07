"""The gate's decision, as a pure function of what was measured."""

from dataclasses import asdict, dataclass, field
from typing import Any

from prm.messages import Message, as_json


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
        """For JSON: `sentence` and `rival` in English, and under `messages` with code and values."""
        sentences = {"sentence": self.sentence, "rival": self.rival}
        in_english = {name: str(one) for name, one in sentences.items()}
        return asdict(self) | in_english | {"messages": {name: as_json(one) for name, one in sentences.items()}}


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
    rival = Message("model_number", n=champion) if champion is not None else Message("zero_label_baseline")
    names = {"challenger": Message("model_number_capital", n=challenger), "rival": rival}
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
    names: dict[str, Message],
    *,
    better: bool,
    sure: bool,
    first: bool,
    tolerance: float,
) -> Message:
    """The sentence of a verdict on a measurement; `first` without a champion, `tolerance` as in `decide`."""
    values = names | {"figures": _figures(measured, solutions, names["rival"])}
    if better and first:
        return Message("first_model_promoted", **values)
    if better and sure:
        return Message("promoted_within_tolerance", least=_points(-tolerance), **values)
    if first:
        return Message("kept_back_as_first", **values)
    if not better:
        return Message("kept_back_no_better", **values)
    return Message("kept_back_maybe_worse", most=tolerance * 100, **values)


def _figures(measured: Measured, solutions: int, rival: Message) -> Message:
    return Message(
        "gate_figures",
        gain=_points(measured.gain),
        rival=rival,
        low=_points(measured.low),
        high=_points(measured.high),
        solutions=Message("holdout_solutions_left_out", n=solutions),
        problems=Message("n_problems", n=measured.problems),
    )


def _unmeasured(promote: bool, solutions: int, least: int, names: dict[str, Message]) -> Message:
    known = (
        Message("too_few_known_holdout_solutions", n=solutions, least=least)
        if solutions < least
        else Message("no_holdout_domain_with_both_kinds")
    )
    if promote:
        return Message("promoted_unmeasured", known=known, **names)
    return Message("gate_power_too_low", known=known, **names)


def _points(share: float) -> float:
    """Of 100, to one digit, and never -0."""
    return round(share * 100, 1) + 0.0
