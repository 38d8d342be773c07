"""Batches: nothing lost, nothing twice, within the budget; rows laid end to end and found again."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from prm.packing import draw_batches, fill_batches, pack, pad, places

LENGTHS = st.lists(st.integers(0, 300), max_size=60)
CPU = torch.device("cpu")


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@given(LENGTHS, st.integers(1, 400), st.booleans())
def test_reading_batches_keep_to_the_budget_and_lose_nothing(lengths: list[int], budget: int, packed: bool) -> None:
    batches = fill_batches(lengths, budget, packed=packed)
    assert sorted(i for batch in batches for i in batch) == [i for i, length in enumerate(lengths) if length]
    for batch in batches:
        assert len(batch) == 1 or places([lengths[i] for i in batch], packed=packed) <= budget


@given(LENGTHS, st.integers(1, 400), st.booleans(), st.integers(0, 5), st.integers(1, 5))
def test_drawn_batches_keep_to_the_budget_and_lose_nothing(
    lengths: list[int], budget: int, packed: bool, seed: int, each: int
) -> None:
    owners = [i // each for i in range(len(lengths))]
    batches = draw_batches(lengths, owners, budget, seeded(seed), packed=packed)
    assert batches == draw_batches(lengths, owners, budget, seeded(seed), packed=packed)
    assert sorted(i for batch in batches for i in batch) == [i for i, length in enumerate(lengths) if length]
    for batch in batches:
        assert len(batch) == 1 or places([lengths[i] for i in batch], packed=packed) <= budget


@given(LENGTHS, st.integers(1, 5))
def test_packed_batches_keep_an_owner_together_where_it_fits(lengths: list[int], each: int) -> None:
    owners = [i // each for i in range(len(lengths))]
    for batch_of in [draw_batches(lengths, owners, 600, seeded(0), packed=True)]:
        where = {i: number for number, batch in enumerate(batch_of) for i in batch}
        for owner in set(owners):
            own = [i for i, name in enumerate(owners) if name == owner and lengths[i]]
            if sum(lengths[i] for i in own) <= 600:
                assert len({where[i] for i in own}) <= 1


@given(st.lists(st.integers(1, 100), min_size=1, max_size=80), st.integers(0, 5))
def test_no_two_packed_batches_would_fit_into_one_half_empty(lengths: list[int], seed: int) -> None:
    batches = draw_batches(lengths, list(range(len(lengths))), 200, seeded(seed), packed=True)
    assert sum(sum(lengths[i] for i in batch) <= 100 for batch in batches) <= 1


def test_epochs_differ() -> None:
    lengths = [10 + i % 7 for i in range(50)]
    for packed in (True, False):
        first, second = (draw_batches(lengths, list(range(50)), 80, seeded(s), packed=packed) for s in (0, 1))
        assert first != second


@pytest.mark.parametrize("lay", [pack, pad])
@given(documents=st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=12), min_size=1, max_size=12))
def test_documents_are_found_where_they_were_laid(lay, documents: list[list[int]]) -> None:
    laid = lay(documents, CPU)
    flat = laid.inputs["input_ids"].flatten().tolist()
    assert [flat[at : at + len(d)] for at, d in zip(laid.starts, documents, strict=True)] == documents


@given(st.lists(st.integers(1, 12), min_size=1, max_size=12))
def test_positions_begin_anew_with_each_packed_document(lengths: list[int]) -> None:
    laid = pack([[1] * length for length in lengths], CPU)
    positions = laid.inputs["position_ids"].flatten().tolist()
    for at, length in zip(laid.starts, lengths, strict=True):
        assert positions[at : at + length] == list(range(length))
    assert sum(lengths) == len(positions) == places(lengths, packed=True)
