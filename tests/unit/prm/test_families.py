"""Every family, packed and padded, sees what it would see of one document alone, and nothing that comes later."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache

import pytest
import torch
import transformers
from torch import Tensor

from prm.attention import PACKED_FAMILIES
from prm.backbones import Backbone, load_backbone, prepare_tuning, tunable_parameters
from prm.config import FEATURES, TrainConfig
from prm.encoding import Encoded, encode
from prm.features import step_features
from prm.heads import Heads
from prm.packing import pack
from prm.traces import Step, Trace
from prm.training.objective import class_log_probabilities, soft_cross_entropy
from tests.unit.prm.conftest import FAMILIES, WINDOW, Folders
from tests.unit.prm.small_world import make_traces

PADDED_ONLY = {"gpt2"}
NEAR = {"rtol": 2e-4, "atol": 2e-4}  # float32, sums in another order


def load(folders: Folders, family: str, *, packing: bool) -> Backbone:
    """A backbone whose attention is sharp, so that a token seen or not seen shows."""
    backbone = _load_once(str(folders[family]), packing)
    return replace(backbone, model=deepcopy(backbone.model))


@cache
def _load_once(folder: str, packing: bool) -> Backbone:
    backbone = load_backbone(folder, device="cpu", packing=packing)
    with torch.no_grad():
        for parameter in backbone.model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(6)
    return backbone


def documents(backbone: Backbone, count: int = 5) -> list[Encoded]:
    """Solutions of uneven length, two of them of the same."""
    traces = make_traces(count, seed=3)
    return encode([*traces, traces[1]], backbone.tokenizer, backbone.layout, backbone.context)


def alone(folders: Folders, family: str, config: TrainConfig | None = None) -> Backbone:
    """The plain model with the attention that its own library says is the reference."""
    backbone = load(folders, family, packing=False)
    backbone.model.set_attn_implementation("eager")
    if config:
        torch.manual_seed(1)
        prepare_tuning(backbone, config)
        _stir_adapters(backbone)
    return backbone


def tuned(folders: Folders, family: str, config: TrainConfig, *, packing: bool = True) -> Backbone:
    backbone = load(folders, family, packing=packing)
    torch.manual_seed(1)
    prepare_tuning(backbone, config)
    _stir_adapters(backbone)
    return backbone


def _stir_adapters(backbone: Backbone) -> None:
    """Fresh adapters are zero on one side, whose gradients on the other side are zero too."""
    torch.manual_seed(2)
    with torch.no_grad():
        for name, parameter in tunable_parameters(backbone).items():
            if "lora_B" in name:
                parameter.normal_(0, 0.05)


def loss_of(rows: Tensor) -> Tensor:
    torch.manual_seed(4)
    heads = Heads(2, rows.shape[1], 8, 0.0)
    good = torch.rand(len(rows))
    log_p = class_log_probabilities(heads(rows), torch.zeros(2))
    return soft_cross_entropy(log_p, torch.stack([good, 1 - good], dim=1), torch.rand(2, len(rows)))


def gradients(backbone: Backbone, batches: Sequence[Sequence[Encoded]]) -> tuple[Tensor, dict[str, Tensor]]:
    """The loss over all batches taken as one, and its gradient by parameter."""
    rows = torch.cat([step_features(backbone, batch, FEATURES) for batch in batches])
    loss = loss_of(rows)
    loss.backward()
    return loss.detach(), {
        name: torch.zeros_like(p) if p.grad is None else p.grad for name, p in tunable_parameters(backbone).items()
    }


def assert_same_gradients(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    largest = max(float(g.abs().max()) for g in expected.values())
    assert largest > 0
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=2e-3, atol=1e-4 * largest, msg=name)


PACKED = [family for family in FAMILIES if family not in PADDED_ONLY]
each_family = pytest.mark.parametrize("family", PACKED)
each_family_and_mode = pytest.mark.parametrize(
    ("family", "packing"),
    [pytest.param(family, True, id=f"{family}-packed") for family in PACKED]
    + [pytest.param(family, False, id=f"{family}-padded") for family in FAMILIES],
)


def test_every_packed_family_is_among_those_tested(backbone_folders: Folders) -> None:
    tested = {getattr(transformers, FAMILIES[family][0]).model_type for family in PACKED}
    assert tested == PACKED_FAMILIES


@pytest.mark.parametrize("family", sorted(PADDED_ONLY))
def test_a_family_not_known_to_pack_goes_padded_and_says_so(family: str, backbone_folders: Folders) -> None:
    with pytest.warns(UserWarning, match=f"{family} family are padded"):
        assert not load(backbone_folders, family, packing=True).packed


@each_family_and_mode
def test_features_are_those_of_each_document_alone(family: str, packing: bool, backbone_folders: Folders) -> None:
    backbone, plain = load(backbone_folders, family, packing=packing), alone(backbone_folders, family)
    assert (backbone.packed, plain.packed) == (packing, False)
    batch = documents(backbone)
    assert min(len(item.ids) for item in batch) > WINDOW
    with torch.no_grad():
        found = step_features(backbone, batch, FEATURES)
        expected = torch.cat([step_features(plain, [item], FEATURES) for item in batch])
    torch.testing.assert_close(found, expected, **NEAR)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_predictions_are_those_of_the_model_itself(family: str, backbone_folders: Folders) -> None:
    backbone, plain = load(backbone_folders, family, packing=False), alone(backbone_folders, family)
    ids = torch.tensor([documents(backbone)[0].ids])
    with torch.no_grad():
        states = backbone.model.get_decoder()(input_ids=ids, use_cache=False).last_hidden_state[0]
        torch.testing.assert_close(backbone.logits(states), plain.model(input_ids=ids).logits[0], **NEAR)


@each_family
def test_a_leak_between_documents_would_show(family: str, backbone_folders: Folders) -> None:
    backbone = load(backbone_folders, family, packing=True)
    batch = [item.ids for item in documents(backbone)]
    inputs = pack(batch, backbone.device).inputs
    decoder = backbone.model.get_decoder()
    with torch.no_grad():
        apart = decoder(use_cache=False, **inputs).last_hidden_state
        inputs["documents"] = replace(inputs["documents"], lengths=(sum(map(len, batch)),))
        together = decoder(use_cache=False, **inputs).last_hidden_state
    assert (apart - together).abs().max() > 0.1


@each_family_and_mode
def test_no_step_sees_what_comes_after_it(family: str, packing: bool, backbone_folders: Folders) -> None:
    backbone = load(backbone_folders, family, packing=packing)
    trace, *others = make_traces(4, seed=8)
    cut = 2
    changed = Trace("c", trace.problem, [*trace.steps[:cut], Step("and so it goes, on and on " * 3), Step("7")])
    prefix = Trace("p", trace.problem, trace.steps[:cut])

    def scored(solution: Trace, company: list[Trace]) -> Tensor:
        batch = encode([solution, *company], backbone.tokenizer, backbone.layout, backbone.context)
        with torch.no_grad():
            return step_features(backbone, batch, FEATURES)[:cut]

    whole = scored(trace, others)
    torch.testing.assert_close(scored(changed, others), whole, **NEAR)
    torch.testing.assert_close(scored(prefix, others[:1]), whole, **NEAR)
    torch.testing.assert_close(scored(prefix, []), whole, **NEAR)


@pytest.mark.parametrize(
    ("family", "packing", "lane"),
    [(family, True, lane) for family in PACKED for lane in ("full", "lora")]
    + [(family, False, "full") for family in FAMILIES],
)
def test_loss_and_gradients_are_those_of_each_document_alone(
    family: str, packing: bool, lane, backbone_folders: Folders
) -> None:
    config = TrainConfig(lane=lane, lora_rank=2)
    backbone = tuned(backbone_folders, family, config, packing=packing)
    plain = alone(backbone_folders, family, config)
    batch = documents(backbone, 3)
    loss, found = gradients(backbone, [batch])
    expected_loss, expected = gradients(plain, [[item] for item in batch])
    torch.testing.assert_close(loss, expected_loss, **NEAR)
    assert_same_gradients(found, expected)


@each_family
def test_checkpointing_changes_no_gradient(family: str, backbone_folders: Folders) -> None:
    backbone = tuned(backbone_folders, family, TrainConfig(lane="full"))
    again = tuned(backbone_folders, family, TrainConfig(lane="full", gradient_checkpointing=True))
    batch = documents(backbone, 3)
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    next(again.layers[0].children()).register_forward_hook(count)
    loss, expected = gradients(backbone, [batch])
    same_loss, found = gradients(again, [batch])
    assert torch.equal(loss, same_loss)
    assert_same_gradients(found, expected)
    assert calls == 2, "the layer was not computed again"
