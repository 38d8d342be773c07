"""Step features: which blocks there are, where their columns stand, and what is not computed unasked."""

from itertools import combinations

import msgspec
import pytest
import torch

from prm.backbones import Backbone
from prm.config import FEATURES, TrainConfig
from prm.encoding import Encoded, encode
from prm.features import STATISTICS, compute_features, feature_width, step_features
from prm.traces import Trace

BUDGET = 600


@pytest.fixture
def encoded(backbone: Backbone, traces: list[Trace]) -> list[Encoded]:
    return encode(traces[:6], backbone.tokenizer, backbone.layout, backbone.context)


def test_any_choice_of_features_is_those_columns_of_all(backbone: Backbone, encoded: list[Encoded]) -> None:
    everything = compute_features(backbone, encoded, BUDGET, FEATURES)
    widths = [len(STATISTICS) if name == "statistics" else backbone.width for name in FEATURES]
    columns = dict(zip(FEATURES, everything.split(widths, dim=1), strict=True))
    for count in (1, 2, 3):
        for chosen in combinations(FEATURES, count):
            found = compute_features(backbone, encoded, BUDGET, chosen)
            assert found.shape[1] == feature_width(backbone, chosen)
            torch.testing.assert_close(found, torch.cat([columns[name] for name in chosen], dim=1))
            torch.testing.assert_close(found, compute_features(backbone, encoded, BUDGET, chosen[::-1]))


def test_no_logits_are_computed_where_no_statistics_are_asked_for(
    backbone: Backbone, encoded: list[Encoded], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backbone.model.get_output_embeddings(), "forward", lambda states: pytest.fail("logits"))
    assert torch.isfinite(step_features(backbone, encoded, ("middle", "last", "separator"))).all()
    with pytest.raises(pytest.fail.Exception, match="logits"):
        step_features(backbone, encoded, ("statistics",))


@pytest.mark.parametrize("features", [(), ("last", "last"), ("first",)])
def test_features_must_be_known_and_named_once(features: tuple[str, ...]) -> None:
    with pytest.raises(msgspec.ValidationError, match="features"):
        msgspec.json.decode(msgspec.json.encode({"features": features}), type=TrainConfig)
