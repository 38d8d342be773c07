"""The gate's decision, as a pure function of a measurement."""

from annotation.models.model_version import Verdict
from prm.evaluation import Comparison
from prm.evaluation.sequential import boundary, detectable_gain
from prm.messages import Message


def decide(
    *,
    challenger: int,
    champion: int | None,
    measured: Comparison | None,
    newer: Comparison | None = None,
    solutions: int,
    tolerance: float,
    least: int,
    holdout_uses: int,
) -> Verdict:
    """The verdict: promote if the gain is above zero and its lower bound above -`tolerance`.

    `challenger` and `champion` are version numbers. The bound holds over all rounds together. `newer` is the comparison
    on the solutions labelled since the champion was promoted, which did not help to choose it: it decides if it
    promotes and `measured`, on all solutions, does not. Without a champion, the rival is the zero-label baseline and
    only the gain counts, because no serving model can get worse. `solutions` of the holdout have a known first error.
    With fewer than `least`, or without a measurement (`measured` is None or has no standard error), a first model is
    promoted, since the alternative is a random queue, and a later one is not. `holdout_uses` counts the earlier gates
    that this holdout has decided.
    """
    rival = Message("model_number", n=champion) if champion is not None else Message("zero_label_baseline")
    names = {"challenger": Message("model_number_capital", n=challenger), "rival": rival}
    if measured is None or measured.error is None or solutions < least:
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
    only_new = (
        champion is not None
        and newer is not None
        and newer.n_solutions >= least
        and _passes(newer, tolerance)
        and not _passes(measured, tolerance)
    )
    judged = newer if only_new and newer is not None else measured
    assert judged.error is not None, "a comparison without it does not pass"
    width = boundary(judged.n_solutions) * judged.error
    low, high = judged.gain - width, judged.gain + width
    detectable = detectable_gain(judged.n_solutions, judged.error * judged.n_solutions**0.5, tolerance)
    better, sure = judged.gain > 0, champion is None or _passes(judged, tolerance)
    names["figures"] = Message(
        "gate_figures",
        gain=_points(judged.gain),
        rival=rival,
        low=_points(low),
        high=_points(high),
        solutions=Message("new_holdout_solutions" if only_new else "holdout_solutions_left_out", n=judged.n_solutions),
        problems=Message("n_problems", n=judged.n_problems),
    )
    if better and champion is None:
        sentence = Message("first_model_promoted", **names)
    elif better and sure:
        code = "promoted_on_new_labels" if only_new else "promoted_within_tolerance"
        sentence = Message(code, least=_points(-tolerance), **names)
    elif champion is None:
        sentence = Message("kept_back_as_first", **names)
    elif better:
        sentence = Message("kept_back_maybe_worse", most=tolerance * 100, detectable=_points(detectable), **names)
    else:
        sentence = Message("kept_back_no_better", **names)
    return Verdict(
        promote=better and sure,
        sentence=sentence,
        rival=rival,
        gain=judged.gain,
        error=judged.error,
        low=low,
        high=high,
        detectable=detectable,
        tolerance=tolerance,
        n=judged.n_solutions,
        n_problems=judged.n_problems,
        samples=judged.samples,
        only_new=only_new,
        holdout_uses=holdout_uses,
    )


def _passes(measured: Comparison, tolerance: float) -> bool:
    """Whether a challenger with this gain over the champion is promoted."""
    if measured.error is None:
        return False
    return measured.gain > 0 and measured.gain - boundary(measured.n_solutions) * measured.error > -tolerance


def _points(share: float) -> float:
    """A share in points of 100, rounded to one digit, and never -0."""
    return round(share * 100, 1) + 0.0
