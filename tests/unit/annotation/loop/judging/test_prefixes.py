"""Which prefixes are estimated, and what the estimates say of each step."""

import pytest

from annotation.loop.judging.prefixes import most_prefixes, next_prefix, ratings_of, shares_by_step


def estimated(truth, search, threshold=0.0):
    """The lengths that are asked about, and the ratings, if the share behind step k is truth[k]."""
    steps = len(truth)
    rule = {"steps": steps, "search": search, "threshold": threshold}
    shares, asked = {steps: truth[-1]}, []
    while (length := next_prefix(shares, **rule)) is not None:
        asked.append(length)
        shares[length] = truth[length - 1]
    assert len(asked) <= most_prefixes(steps, search)
    return asked, ratings_of(shares, **rule), shares_by_step(shares, steps)


def test_every_prefix_is_estimated_and_the_whole_is_known():
    asked, ratings, shares = estimated([0.75, 0.0, 0.25, 0.0], "all")
    assert (asked, ratings, shares) == ([1, 2, 3], [1, -1, 1, -1], [0.75, 0.0, 0.25, 0.0])


def test_a_search_stops_at_the_first_prefix_without_a_right_rollout():
    asked, ratings, shares = estimated([0.5, 0.0, 0.25, 0.0], "first")
    assert (asked, ratings, shares) == ([1, 2], [1, -1], [0.5, 0.0, None, 0.0])
    assert estimated([0.5, 0.5, 0.0], "first")[:2] == ([1, 2], [1, 1, -1])
    assert estimated([0.5, 0.5, 1.0], "first")[:2] == ([1, 2], [1, 1, 1])


@pytest.mark.parametrize("steps", range(1, 18))
def test_a_binary_search_finds_each_first_error_with_few_estimates(steps):
    for error in range(steps):
        truth = [0.5] * error + [0.0] * (steps - error)
        asked, ratings, _shares = estimated(truth, "bisect")
        assert ratings == [1] * error + [-1]
        assert len(asked) <= (steps - 1).bit_length()
    assert estimated([0.5] * (steps - 1) + [1.0], "bisect")[:2] == ([], [1] * steps)


def test_the_threshold_decides_what_is_good():
    assert estimated([0.75, 0.25, 1.0], "all", threshold=0.5)[1] == [1, -1, 1]
