"""Beyond the context a step is read in a window that knows only what came before it, or has no score."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.encoding import Layout
from prm.scores import TraceScore
from prm.scoring.windows import window_starts, windows
from prm.traces import Step, Trace
from tests.unit.prm.scoring.judging import assert_same, make_scorer

LAYOUT = Layout(start=(0,), problem_end=(1,), step_end=(2,))
lengths = st.lists(st.integers(1, 12), max_size=30)


@given(problem=st.integers(1, 12), steps=lengths, context=st.integers(2, 24), long=st.sampled_from(["null", "window"]))
def test_a_window_is_chosen_from_what_precedes_and_fits(
    problem: int, steps: list[int], context: int, long: str
) -> None:
    starts = window_starts(problem, steps, context, long)
    for k in range(len(steps)):
        assert window_starts(problem, steps[: k + 1], context, long) == starts[: k + 1]
    for k, start in enumerate(starts):
        if start is not None:
            assert start <= k
            assert problem + sum(steps[start : k + 1]) <= context
        fits = problem + sum(steps[: k + 1]) <= context
        assert (start == 0) >= fits, "what fits is read whole"
        if long == "null":
            assert (start is not None) == fits
        else:
            assert (start is None) == (problem + steps[k] > context), "only a step too long by itself has no score"


@given(pieces=st.lists(st.lists(st.just(7), max_size=11), min_size=1, max_size=30), context=st.integers(4, 24))
def test_every_scored_step_is_in_one_window_with_the_problem_and_its_last_steps(
    pieces: list[list[int]], context: int
) -> None:
    pieces = [[100 + k] * (1 + len(piece)) for k, piece in enumerate(pieces)]  # tells the pieces apart
    problem, *steps = pieces
    starts = window_starts(len(problem) + 2, [len(step) + 1 for step in steps], context, "window")
    scored = []
    for window in windows(pieces, LAYOUT, context, "window"):
        encoded = window.encoded
        assert len(encoded.ids) <= context
        assert list(encoded.ids[: encoded.spans[0][0]]) == [0, *problem, 1]
        for offset, (begin, end) in enumerate(encoded.spans):
            assert list(encoded.ids[begin:end]) == [*steps[window.start + offset], 2]
        scored += range(window.first, window.start + len(encoded.spans))
    assert scored == [k for k, start in enumerate(starts) if start is not None]


def test_reading_in_windows_costs_about_twice_the_tokens_at_most() -> None:
    pieces = [[7] * 20, *([9] * (5 + k % 9) for k in range(500))]
    read = sum(len(window.encoded.ids) - 22 for window in windows(pieces, LAYOUT, 222, "window"))
    assert read < 2.1 * sum(len(step) + 1 for step in pieces[1:])


def test_five_hundred_steps_are_scored_and_those_that_fit_as_ever(backbone_folders: dict[str, Path]) -> None:
    trace = Trace("long", "Add ones.", [Step(f"{k} + 1 = {k + 1}") for k in range(500)])
    plain, windowed = (make_scorer(backbone_folders["qwen2"], context=128, long=long) for long in ("null", "window"))
    [cut], [whole] = plain.score([trace]), windowed.score([trace])
    fit = 500 - cut.unscored
    assert 0 < fit < 20
    assert (whole.unscored, whole.windowed) == (0, 500 - fit)
    assert (cut.windowed, cut.outcome) == (0, None)
    assert_same(_first(whole, fit), _first(cut, fit))


def test_a_step_longer_than_the_context_has_no_score_and_the_later_ones_go_on_without_it(
    backbone_folders: dict[str, Path],
) -> None:
    scorer = make_scorer(backbone_folders["qwen2"], context=64, long="window")
    steps = [Step("1 + 1 = 2"), Step("x" * 200), Step("2 + 1 = 3"), Step("3 + 1 = 4")]
    [found] = scorer.score([Trace("t", "Add ones.", steps)])
    assert [p is None for p in found.mean] == [False, True, False, False]
    assert (found.unscored, found.windowed) == (1, 2)
    [rest] = scorer.score([Trace("t", "Add ones.", steps[2:])])
    assert found.mean[2:] == pytest.approx(rest.mean, abs=1e-4)


@pytest.mark.parametrize("family", ["llama", "mistral"])
@pytest.mark.parametrize("share_prefix", ["never", "always"])
def test_in_windows_a_prefix_scores_as_in_the_whole_alone_shared_and_in_a_session(
    family: str, share_prefix: str, backbone_folders: dict[str, Path]
) -> None:
    scorer = make_scorer(backbone_folders[family], context=70, long="window", share_prefix=share_prefix)
    steps = [Step(f"{k} + 1 = {k + 1}" + " so" * (k % 4)) for k in range(12)]
    steps[7] = Step("y" * 80)
    trace = Trace("t", "Add ones.", steps)
    [whole] = scorer.score([trace])
    assert whole.windowed > 4
    prefixes = [msgspec.structs.replace(trace, steps=steps[:k]) for k in range(1, 12)]
    with scorer.session(trace.problem) as session:
        for k, prefix in enumerate(scorer.score(prefixes), start=1):
            session.append(steps[k - 1])
            assert_same(prefix, _first(whole, k))
            assert_same(session.score("t"), prefix)


def _first(score: TraceScore, k: int) -> TraceScore:
    """The score of the first `k` steps; windows begin where the first step is windowed."""
    plain = sum(p is not None for p in score.mean) - score.windowed
    scored = sum(p is not None for p in score.mean[:k])
    return msgspec.structs.replace(
        score, mean=score.mean[:k], heads=score.heads[:k], spread=score.spread[:k], windowed=max(0, scored - plain)
    )
