"""Advises whether to continue labelling, by three criteria with a figure and a sentence each. Pure functions."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from prm.errors import DataError
from prm.messages import Message, joined

Verdict = Literal["stop", "continue", "unknown"]


class Round(msgspec.Struct, kw_only=True):
    """The measurements of one round; None if not measured.

    `acquired_gain` and `control_gain` are the gains from a solution in each lane, in the same unit (nats, or points of
    holdout F1); `acquired_seconds` and `control_seconds` are its costs. `verdicts_changed` is the share of solutions in
    the pool whose verdict (the first error, or none) differs from the previous champion's. `holdout_gain` is the
    champion's gain on the holdout over its predecessor.
    """

    acquired_gain: float | None = None
    acquired_seconds: float | None = None
    control_gain: float | None = None
    control_seconds: float | None = None
    verdicts_changed: float | None = None
    holdout_gain: float | None = None


class Criterion(msgspec.Struct):
    """One criterion: its advice, its figure, and the figure's threshold."""

    name: str
    verdict: Verdict
    figure: float | None
    threshold: float
    sentence: str


class Advice(msgspec.Struct):
    """The advice: to stop if at least two criteria advise so and none advises to continue."""

    stop: bool
    criteria: list[Criterion]
    sentence: str


def advise(
    history: Sequence[Round],
    *,
    rounds: int = 3,
    advantage: float = 1.1,
    changed: float = 0.02,
    delta: float = 0.005,
) -> Advice:
    """Advice from the last `rounds` of the history, which begins with the oldest round.

    The criteria for stopping are:

    - advantage: the gain per second of acquired labels is below `advantage` times that of the control lane, so that
      acquisition no longer beats a random draw;
    - stability: in every round at most a share `changed` of the pool's verdicts changed (stabilising predictions,
      Bloodgood & Vijay-Shanker 2009, with the share of changed verdicts instead of kappa);
    - improvement: in every round the champion gained less than `delta` on the holdout.

    Raises DataError for invalid thresholds.
    """
    if rounds < 1 or advantage <= 0 or not 0 <= changed <= 1:
        raise DataError(Message("stopping_thresholds_invalid", rounds=rounds, advantage=advantage, changed=changed))
    last = list(history)[-rounds:]
    criteria = [
        _advantage(last, rounds, advantage),
        _stability(last, rounds, changed),
        _improvement(last, rounds, delta),
    ]
    stopping = [one for one in criteria if one.verdict == "stop"]
    against = [one for one in criteria if one.verdict == "continue"]
    if len(stopping) >= 2 and not against:
        return Advice(True, criteria, Message("stop_labelling", why=joined([one.sentence for one in stopping])))
    if against:
        return Advice(False, criteria, Message("continue_labelling", why=joined([one.sentence for one in against])))
    unknown = joined([one.sentence for one in criteria if one not in stopping])
    return Advice(False, criteria, Message("stopping_too_early", why=unknown))


def _advantage(last: Sequence[Round], rounds: int, threshold: float) -> Criterion:
    name = "advantage"
    measured = [(_rate(r.acquired_gain, r.acquired_seconds), _rate(r.control_gain, r.control_seconds)) for r in last]
    known = [(acquired, control) for acquired, control in measured if acquired is not None and control is not None]
    if len(known) < rounds:
        return _unknown(name, threshold, Message("gain_per_second"), len(known), rounds)
    acquired, control = (sum(column) for column in zip(*known, strict=True))
    if control <= 0:
        says = Message("random_labels_taught_nothing")
        return Criterion(name, "unknown", None, threshold, says)
    ratio = acquired / control
    says = Message("choice_advantage", ratio=ratio)
    if ratio < threshold:
        return Criterion(name, "stop", ratio, threshold, Message("choosing_stopped_paying", figure=says))
    return Criterion(name, "continue", ratio, threshold, Message("full_stop", sentence=says))


def _stability(last: Sequence[Round], rounds: int, threshold: float) -> Criterion:
    name = "stability"
    known = [r.verdicts_changed for r in last if r.verdicts_changed is not None]
    if len(known) < rounds:
        return _unknown(name, threshold, Message("verdict_changes"), len(known), rounds)
    most = max(known)
    says = Message("verdicts_changed", n=rounds, most=most)
    if most <= threshold:
        return Criterion(name, "stop", most, threshold, Message("predictions_stable", figure=says))
    return Criterion(
        name, "continue", most, threshold, Message("figure_above_percentage", figure=says, threshold=threshold)
    )


def _improvement(last: Sequence[Round], rounds: int, threshold: float) -> Criterion:
    name = "improvement"
    known = [r.holdout_gain for r in last if r.holdout_gain is not None]
    if len(known) < rounds:
        return _unknown(name, threshold, Message("gain_on_holdout"), len(known), rounds)
    most = max(known)
    says = Message("holdout_gain", n=rounds, gain=100 * most)
    if most < threshold:
        return Criterion(
            name, "stop", most, threshold, Message("figure_below_points", figure=says, threshold=100 * threshold)
        )
    return Criterion(name, "continue", most, threshold, Message("full_stop", sentence=says))


def _rate(gain: float | None, seconds: float | None) -> float | None:
    return None if gain is None or not seconds else gain / seconds


def _unknown(name: str, threshold: float, what: Message, known: int, rounds: int) -> Criterion:
    says = Message("rounds_with_figure", n=rounds, known=known, what=what)
    return Criterion(name, "unknown", None, threshold, says)
