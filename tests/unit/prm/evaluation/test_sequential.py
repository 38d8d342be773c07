"""The bound of a gain over many looks, and the labels that a gain needs."""

import numpy as np
import pytest

from prm.evaluation.sequential import ERROR_BUDGET, boundary, detectable_gain, solutions_needed


def test_all_looks_together_err_at_most_as_often_as_promised() -> None:
    """Without a gain, a fixed interval at the same level is crossed in most campaigns of 600 solutions."""
    differences = np.random.default_rng(1).standard_normal((2000, 600)).cumsum(axis=1)
    errors = (differences / np.sqrt(np.arange(1, 601)))[:, 19:]
    crossed = (errors > [boundary(n) for n in range(20, 601)]).any(axis=1).mean()
    assert 0.03 < crossed < ERROR_BUDGET
    assert (errors > 0.84).any(axis=1).mean() > 0.5


def test_more_solutions_show_a_smaller_gain_and_a_smaller_gain_needs_more() -> None:
    shown = [detectable_gain(n, 0.42, 0.02) for n in (20, 154, 600, 2400)]
    assert shown == sorted(shown, reverse=True)
    needed = [solutions_needed(gain, 0.42, 0.02) for gain in (0.01, 0.02, 0.05)]
    assert needed == sorted(needed, reverse=True)


@pytest.mark.parametrize("gain", [0.01, 0.02, 0.1])
def test_the_needed_solutions_are_the_fewest_that_show_the_gain(gain: float) -> None:
    n = solutions_needed(gain, 0.3, 0.02)
    assert detectable_gain(n, 0.3, 0.02) <= gain < detectable_gain(n - 1, 0.3, 0.02)
