"""The gate's decision, as a pure function of a measurement."""

from annotation.models.model_version import Verdict
from prm.evaluation import Comparison
from prm.messages import Message


def decide(
    *,
    challenger: int,
    champion: int | None,
    measured: Comparison | None,
    solutions: int,
    tolerance: float,
    least: int,
    holdout_uses: int,
) -> Verdict:
    """The verdict: promote if the gain is above zero and its lower bound above -`tolerance`.

    `challenger` and `champion` are version numbers. Without a champion, the rival is the zero-label baseline and only
    the gain counts, because no serving model can get worse. `solutions` of the holdout have a known first error. With
    fewer than `least`, or without a measurement (`measured` is None or has no interval), a first model is promoted,
    since the alternative is a random queue, and a later one is not. `holdout_uses` counts the earlier gates that this
    holdout has decided.
    """
    rival = Message("model_number", n=champion) if champion is not None else Message("zero_label_baseline")
    names = {"challenger": Message("model_number_capital", n=challenger), "rival": rival}
    if measured is None or measured.low is None or measured.high is None or solutions < least:
        promote = champion is None
        known = (
            Message("too_few_known_holdout_solutions", n=solutions, least=least)
            if solutions < least
            else Message("no_holdout_domain_with_both_kinds")
        )
        rejected = Message("gate_power_too_low", known=known, **names)
        return Verdict(
            promote=promote,
            sentence=Message("promoted_unmeasured", known=known, **names) if promote else rejected,
            rival=rival,
            tolerance=tolerance,
            n=solutions,
            holdout_uses=holdout_uses,
        )
    better, sure = measured.gain > 0, champion is None or measured.low > -tolerance
    names["figures"] = Message(
        "gate_figures",
        gain=_points(measured.gain),
        rival=rival,
        low=_points(measured.low),
        high=_points(measured.high),
        solutions=Message("holdout_solutions_left_out", n=solutions),
        problems=Message("n_problems", n=measured.n_problems),
    )
    if better and champion is None:
        sentence = Message("first_model_promoted", **names)
    elif better and sure:
        sentence = Message("promoted_within_tolerance", least=_points(-tolerance), **names)
    elif champion is None:
        sentence = Message("kept_back_as_first", **names)
    elif better:
        sentence = Message("kept_back_maybe_worse", most=tolerance * 100, **names)
    else:
        sentence = Message("kept_back_no_better", **names)
    return Verdict(
        promote=better and sure,
        sentence=sentence,
        rival=rival,
        gain=measured.gain,
        low=measured.low,
        high=measured.high,
        tolerance=tolerance,
        n=solutions,
        n_problems=measured.n_problems,
        samples=measured.samples,
        holdout_uses=holdout_uses,
    )


def _points(share: float) -> float:
    """A share in points of 100, rounded to one digit, and never -0."""
    return round(share * 100, 1) + 0.0
