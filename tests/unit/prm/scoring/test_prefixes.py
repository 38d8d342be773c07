"""Solutions of one problem score the same whether its reading is shared or not."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.encoding import Encoded
from prm.scoring.prefixes import families
from prm.traces import Step, Trace
from tests.unit.prm.conftest import FAMILIES
from tests.unit.prm.scoring.judging import assert_same, make_scorer
from tests.unit.prm.small_world import make_traces


def make_pool() -> list[Trace]:
    """Three problems of uneven length with 4 solutions each, one whose solutions begin alike, two equal, one alone."""
    pool = []
    for number in range(3):
        solutions = make_traces(4, seed=number)
        pool += [
            msgspec.structs.replace(t, id=f"{number}/{t.id}", problem="Add these. " * (1 + 3 * number))
            for t in solutions
        ]
    alike = [Step("1 + 1 = 2"), Step("2 + 1 = 3 so")]
    pool += [
        Trace(f"alike/{k}", "Add ones.", [*alike, *more]) for k, more in enumerate(([], [Step("x")], [Step("y z")]))
    ]
    return [*pool, Trace("twin", "Add ones.", [*alike, Step("x")]), Trace("alone", "Add 5.", [Step("5")])]


@pytest.mark.parametrize("family", FAMILIES)
def test_sharing_changes_no_score_in_any_family(family: str, backbone_folders: dict[str, Path]) -> None:
    pool = make_pool()
    apart = list(make_scorer(backbone_folders[family]).score(pool))
    scorer = make_scorer(backbone_folders[family], share_prefix="always")
    for scorer.local.token_budget in (300, 5000):
        for found, expected in zip(scorer.score(pool), apart, strict=True):
            assert_same(found, expected)


def test_later_text_changes_nothing_before_it_where_a_reading_is_shared(backbone_folders: dict[str, Path]) -> None:
    scorer = make_scorer(backbone_folders["mistral"], share_prefix="always")
    pool = make_pool()[:4]
    cut = [msgspec.structs.replace(t, steps=t.steps[:2], labels=None, first_error=None) for t in pool]
    for prefix, whole in zip(scorer.score(cut), scorer.score(pool), strict=True):
        whole = msgspec.structs.replace(whole, mean=whole.mean[:2], heads=whole.heads[:2])
        assert_same(prefix, whole)


def test_a_shared_problem_and_shared_steps_are_read_once(
    backbone_folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = make_scorer(backbone_folders["llama"], share_prefix="always")
    decoder = scorer.backbone.model.get_decoder()
    forward, read = decoder.forward, []
    monkeypatch.setattr(decoder, "forward", lambda **given: read.append(given["input_ids"].shape) or forward(**given))
    problem, shared = "Add ones.", Step("1 + 1 = 2")
    list(scorer.score(Trace(str(k), problem, [shared, Step(f"so {k}")]) for k in range(4)))
    frame = 2 + len(problem)  # start and separator
    assert read == [(1, frame + len(shared.text) + 1), (4, len("so 0") + 1)]


def test_sharing_is_chosen_where_it_pays() -> None:
    def solutions(problem: int, own: int, count: int) -> list[Encoded]:
        ids = [(*[7] * problem, *[k] * own) for k in range(count)]
        return [Encoded(each, ((problem, problem + own),), 1) for each in ids]

    assert [f.members for f in families(solutions(100, 50, 8), "auto")[0]] == [tuple(range(8))]
    assert families(solutions(10, 500, 8), "auto") == ([], list(range(8)))
    assert families(solutions(100, 50, 1), "always") == ([], [0])
    assert families(solutions(100, 50, 8), "never") == ([], list(range(8)))
    assert families([Encoded((), (), 3)], "always") == ([], []), "where no step fits, nothing is read"


steps_of = st.lists(st.lists(st.integers(1, 2), min_size=1, max_size=2).map(tuple), min_size=1, max_size=4)


@given(st.lists(steps_of, min_size=2, max_size=5))
def test_a_family_shares_whole_steps_and_leaves_each_member_one(solutions: list[list[tuple[int, ...]]]) -> None:
    encoded = []
    for steps in solutions:
        ids, spans = [0, 0], []
        for step in steps:
            spans.append((len(ids), len(ids) + len(step)))
            ids += step
        encoded.append(Encoded(tuple(ids), tuple(spans), len(steps)))
    [family], alone = families(encoded, "always")
    assert (family.members, alone) == (tuple(range(len(solutions))), [])
    assert len({each.ids[: family.length] for each in encoded}) == 1
    assert all(each.spans[family.steps][0] == family.length for each in encoded)
