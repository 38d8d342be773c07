"""The gate's decision, as a pure function of a measurement."""

from dataclasses import dataclass
from functools import cached_property

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
        known = (
            Message("too_few_known_holdout_solutions", n=solutions, least=least)
            if solutions < least
            else Message("no_holdout_domain_with_both_kinds")
        )
        code = "promoted_unmeasured" if champion is None else "gate_power_too_low"
        return Verdict(
            promote=champion is None,
            sentence=Message(code, known=known, **names),
            rival=rival,
            tolerance=tolerance,
            n=solutions,
            holdout_uses=holdout_uses,
        )
    look = _Look(measured, measured.error, tolerance)
    if champion is not None and newer is not None and newer.error is not None and newer.n_solutions >= least:
        newer_look = _Look(newer, newer.error, tolerance, only_new=True)
        if newer_look.passes and not look.passes:
            look = newer_look
    compared = look.comparison
    return Verdict(
        promote=look.passes or (champion is None and look.better),
        sentence=look.sentence(first=champion is None, **names),
        rival=rival,
        gain=compared.gain,
        error=look.error,
        low=look.low,
        high=look.high,
        detectable=look.detectable,
        tolerance=tolerance,
        n=compared.n_solutions,
        n_problems=compared.n_problems,
        samples=compared.samples,
        only_new=look.only_new,
        holdout_uses=holdout_uses,
    )


@dataclass(frozen=True)
class _Look:
    """A comparison with its standard error, and what its bound over all rounds says."""

    comparison: Comparison
    error: float
    tolerance: float
    only_new: bool = False

    @cached_property
    def low(self) -> float:
        return self.comparison.gain - boundary(self.comparison.n_solutions) * self.error

    @cached_property
    def high(self) -> float:
        return self.comparison.gain + boundary(self.comparison.n_solutions) * self.error

    @property
    def better(self) -> bool:
        return self.comparison.gain > 0

    @property
    def passes(self) -> bool:
        return self.better and self.low > -self.tolerance

    @property
    def detectable(self) -> float:
        n = self.comparison.n_solutions
        return detectable_gain(n, self.error * n**0.5, self.tolerance)

    def sentence(self, *, first: bool, challenger: Message, rival: Message) -> Message:
        """The decision in a sentence; `first` means that there is no champion yet."""
        solutions = "new_holdout_solutions" if self.only_new else "holdout_solutions_left_out"
        figures = Message(
            "gate_figures",
            gain=_points(self.comparison.gain),
            rival=rival,
            low=_points(self.low),
            high=_points(self.high),
            solutions=Message(solutions, n=self.comparison.n_solutions),
            problems=Message("n_problems", n=self.comparison.n_problems),
        )
        names = {"challenger": challenger, "rival": rival, "figures": figures}
        if first:
            return Message("first_model_promoted" if self.better else "kept_back_as_first", **names)
        if self.passes:
            code = "promoted_on_new_labels" if self.only_new else "promoted_within_tolerance"
            return Message(code, least=_points(-self.tolerance), **names)
        if self.better:
            most, detectable = self.tolerance * 100, _points(self.detectable)
            return Message("kept_back_maybe_worse", most=most, detectable=detectable, **names)
        return Message("kept_back_no_better", **names)


def _points(share: float) -> float:
    """A share in points of 100, rounded to one digit, and never -0."""
    return round(share * 100, 1) + 0.0
