"""When to stop labelling: each sign by itself, and what they say together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.acquisition.stopping import Advice, Round, advise
from prm.errors import DataError


def a_round(ratio: float = 2.0, changed: float = 0.1, gain: float = 0.03) -> Round:
    """Chosen solutions cost twice what random ones do and teach, per second, `ratio` times as much."""
    return Round(
        acquired_gain=2 * ratio,
        acquired_seconds=100,
        control_gain=1,
        control_seconds=50,
        verdicts_changed=changed,
        holdout_gain=gain,
    )


def verdicts(advice: Advice) -> dict[str, str]:
    return {one.name: one.verdict for one in advice.criteria}


def test_a_loop_that_still_learns_goes_on() -> None:
    advice = advise([a_round()] * 3)
    assert not advice.stop
    assert set(verdicts(advice).values()) == {"continue"}
    assert advice.criteria[0].figure == pytest.approx(2.0)
    assert advice.sentence.startswith(
        "Continue labelling: Per second of labelling, chosen solutions taught the model 2.00 times"
    )


def test_a_loop_that_learns_nothing_any_more_stops_and_says_why() -> None:
    advice = advise([a_round(), *[a_round(1.0, 0.01, 0.001)] * 3])
    assert advice.stop
    assert set(verdicts(advice).values()) == {"stop"}
    assert "choosing no longer pays" in advice.sentence
    assert "At most 1.0\xa0% of the pool's verdicts changed in any of the last 3 rounds" in advice.sentence
    assert "gained +0.1 points on the holdout, less than 0.5" in advice.sentence


def test_one_sign_against_it_is_enough_to_go_on() -> None:
    advice = advise([a_round(1.0, 0.01, 0.02)] * 3)
    assert verdicts(advice) == {"advantage": "stop", "stability": "stop", "improvement": "continue"}
    assert not advice.stop


@pytest.mark.parametrize("place", range(3))
def test_stability_and_improvement_have_to_hold_in_every_round(place: int) -> None:
    quiet = [a_round(1.0, 0.01, 0.0)] * 3
    quiet[place] = a_round(1.0, 0.2, 0.2)
    found = verdicts(advise(quiet))
    assert (found["stability"], found["improvement"]) == ("continue", "continue")


def test_what_was_not_measured_is_unknown_and_stops_nothing() -> None:
    advice = advise([Round(holdout_gain=0.0)] * 3)
    assert verdicts(advice) == {"advantage": "unknown", "stability": "unknown", "improvement": "stop"}
    assert not advice.stop
    assert advice.sentence.startswith(
        "Too early to tell: Not enough data: 0 of 3 rounds measured the gain per second of acquired and random labels"
    )
    assert not advise([]).stop


def test_a_control_lane_that_taught_nothing_is_no_measure() -> None:
    nothing = Round(acquired_gain=1, acquired_seconds=10, control_gain=0, control_seconds=10)
    assert advise([nothing] * 3).criteria[0].verdict == "unknown"


@given(st.lists(st.builds(Round, verdicts_changed=st.floats(0, 1), holdout_gain=st.floats(-1, 1)), max_size=6))
def test_only_the_last_rounds_count(history: list[Round]) -> None:
    quiet = [a_round(1.0, 0.0, 0.0)] * 3
    assert advise(history + quiet) == advise(quiet)


def test_thresholds_that_tell_nothing_are_an_error() -> None:
    with pytest.raises(DataError):
        advise([], rounds=0)
