"""A session scores each step as it comes, as the finished solution would have been scored."""

import gc
import weakref
from pathlib import Path

import msgspec
import numpy as np
import pytest

from prm.errors import ScoringError
from prm.scoring import Scorer
from prm.traces import Step, Trace
from tests.unit.prm.conftest import FAMILIES
from tests.unit.prm.scoring.judging import TOLERANCE, assert_same, make_scorer
from tests.unit.prm.small_world import make_traces


@pytest.fixture(scope="module")
def scorer(backbone_folders: dict[str, Path]) -> Scorer:
    return make_scorer(backbone_folders["llama"])


@pytest.mark.parametrize("family", FAMILIES)
def test_appending_scores_as_the_whole_for_every_family(family: str, backbone_folders: dict[str, Path]) -> None:
    scorer = make_scorer(backbone_folders[family])
    traces = [*make_traces(2, seed=7), Trace("empty", "Add 1.", [Step(""), Step("x", "tool_call"), Step("")])]
    for trace, whole in zip(traces, scorer.score(traces), strict=True):
        with scorer.session(trace.problem) as session:
            for step in trace.steps:
                session.append(step)
        assert_same(session.score(trace.id), whole)
        assert session.score().outcome == pytest.approx(whole.outcome, abs=TOLERANCE)


def test_a_step_costs_its_own_tokens_only(scorer: Scorer, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    decoder = scorer.backbone.model.get_decoder()
    forward = decoder.forward
    monkeypatch.setattr(
        decoder, "forward", lambda **inputs: read.append(inputs["input_ids"].numel()) or forward(**inputs)
    )
    trace = make_traces(1, seed=2)[0]
    session = scorer.session(trace.problem)
    for step in trace.steps:
        session.append(step)
    n_separator = len(scorer.reader.layout.step_end)
    assert read[1:] == [len(step.text.encode()) + n_separator for step in trace.steps]


def test_branches_go_their_own_ways(scorer: Scorer) -> None:
    trace = make_traces(1, seed=5)[0]
    trunk = scorer.session(trace.problem)
    trunk.append(trace.steps[0])
    branches = [trunk.fork() for _ in range(2)]
    branches[0].append("1 + 1 = 3")
    twig = branches[0].fork()
    for session in (*branches, twig, trunk):
        session.append(trace.steps[1])
    ways = [[trace.steps[0], Step("1 + 1 = 3"), trace.steps[1]], trace.steps[:2]]
    expected = list(scorer.score(msgspec.structs.replace(trace, steps=s, labels=None, first_error=None) for s in ways))
    for session, whole in zip((*branches, twig, trunk), [*expected, expected[0], expected[1]], strict=True):
        assert_same(session.score(trace.id), whole)


def test_steps_beyond_the_context_have_no_score_and_are_counted(backbone_folders: dict[str, Path]) -> None:
    scorer = make_scorer(backbone_folders["llama"], context=60)
    trace = Trace("t", "Add.", [Step("1 + 1 = 2 so so so"), Step("y" * 100), Step("z")])
    session = scorer.session(trace.problem)
    assert [session.append(step).mean is None for step in trace.steps] == [False, True, True]
    [whole] = scorer.score([trace])
    assert_same(session.score("t"), whole)
    assert (session.score().unscored, session.score().outcome) == (2, None)
    hopeless = scorer.session("y " * 100)
    assert hopeless.append("x").mean is None


def test_closing_frees_the_cache_and_ends_the_session(scorer: Scorer) -> None:
    with scorer.session("Add 1.") as session:
        first = session.append("1 + 1 = 2")
        cache = weakref.ref(session._cached.cache)
    gc.collect()
    assert cache() is None
    assert session.scores == [first]
    with pytest.raises(ScoringError, match="closed"):
        session.append("more")


def test_a_step_that_fails_leaves_the_session_as_it_was(scorer: Scorer, monkeypatch: pytest.MonkeyPatch) -> None:
    session, undisturbed = scorer.session("Add 1."), scorer.session("Add 1.")
    with monkeypatch.context() as patch:
        patch.setattr("prm.scoring.session.extend_text", lambda *inputs: (_ for _ in ()).throw(MemoryError()))
        with pytest.raises(MemoryError):
            session.append("x")
    assert session.scores == []
    np.testing.assert_allclose(session.append("y").heads, undisturbed.append("y").heads)
