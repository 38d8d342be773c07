"""Step features: which blocks there are, where their columns stand, what heads read and what is not computed."""

from itertools import combinations
from random import Random

import msgspec
import pytest
import torch

from prm.audits.edits import falsify, rephrase
from prm.backbones import Backbone, load_backbone
from prm.config import FEATURES, Feature, TrainConfig
from prm.encoding import Encoded, encode
from prm.features import STATISTICS, UNREAD, compute_features, feature_width, heads_width, step_features
from prm.heads import Heads
from prm.labels import first_error
from prm.notation import NUMBER, OTHER, SIGN, token_class
from prm.sandbox import WorldConfig, generate
from prm.traces import Step, Trace

BUDGET = 600


@pytest.fixture
def encoded(backbone: Backbone, traces: list[Trace]) -> list[Encoded]:
    return encode(traces[:6], backbone.tokenizer, backbone.layout, backbone.context)


def test_any_choice_of_features_is_those_columns_of_all(backbone: Backbone, encoded: list[Encoded]) -> None:
    everything = compute_features(backbone, encoded, BUDGET, FEATURES)
    widths = [feature_width(backbone.width, (name,)) for name in FEATURES]
    columns = dict(zip(FEATURES, everything.split(widths, dim=1), strict=True))
    for count in (1, 2, 3):
        for chosen in combinations(FEATURES, count):
            found = compute_features(backbone, encoded, BUDGET, chosen)
            assert found.shape[1] == feature_width(backbone.width, chosen)
            torch.testing.assert_close(found, torch.cat([columns[name] for name in chosen], dim=1))
            torch.testing.assert_close(found, compute_features(backbone, encoded, BUDGET, chosen[::-1]))


def test_no_logits_are_computed_where_no_statistics_are_asked_for(
    backbone: Backbone, encoded: list[Encoded], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backbone.model.get_output_embeddings(), "forward", lambda states: pytest.fail("logits"))
    assert torch.isfinite(step_features(backbone, encoded, ("middle", "last", "separator"))).all()
    with pytest.raises(pytest.fail.Exception, match="logits"):
        step_features(backbone, encoded, ("statistics",))


def test_numbers_and_signs_are_found_by_any_tokenizer(backbone: Backbone) -> None:
    text = "So 3 + 40 = 43, is it? 7*8"
    ids = backbone.tokenizer(text, add_special_tokens=False)["input_ids"]
    for token in ids:
        own = backbone.tokenizer.decode([token])
        wanted = NUMBER if set(own) & set("0123456789") else SIGN if own.strip() in ("+", "=", "*") else OTHER
        assert token_class(backbone.token_texts[token]) == wanted, own
    layout = backbone.layout
    assert {token_class(backbone.token_texts[token]) for token in (*layout.start, *layout.step_end)} == {OTHER}


def test_operands_are_read_in_their_least_surprising_order() -> None:
    """Computed from the logits of "4 + 9 = 13": its first operand may be the 9, its second one what was first."""
    tiny = load_backbone("tiny", device="cpu")
    trace = Trace(id="a", problem="Add 9 and 4.", steps=[Step("4 + 9 = 13")])
    [item] = encode([trace], tiny.tokenizer, tiny.layout, tiny.context)
    ids, (start, end) = torch.tensor(item.ids), item.spans[0]
    texts = [tiny.token_texts[token] for token in item.ids]
    with torch.no_grad():
        log_p = tiny.model(ids[None]).logits[0].log_softmax(1)
    numbers = [place for place in range(start, end) if texts[place].isdecimal()]
    assert [texts[place] for place in numbers] == ["4", "9", "1", "3"]

    def surprisal(place: int, token: int) -> float:
        return -float(log_p[place - 1, ids[token]])

    four, nine, *result = numbers
    read = [
        min(surprisal(four, four), surprisal(four, nine)),
        min(surprisal(nine, nine), surprisal(nine, four), surprisal(four, nine)),
        *(surprisal(place, place) for place in result),
    ]
    row = compute_features(tiny, [item], BUDGET, ("statistics",))[0]
    statistics = dict(zip(STATISTICS, row.tolist(), strict=True))
    assert statistics["number_surprisal_mean"] == pytest.approx(sum(read) / 4, abs=1e-3)
    assert statistics["number_surprisal_max"] == pytest.approx(max(read), abs=1e-3)
    written = [surprisal(place, place) for place in range(start, end - len(tiny.layout.step_end))]
    assert statistics["surprisal_max"] == pytest.approx(max(written), abs=1e-3)


def test_a_number_before_a_step_is_not_content() -> None:
    tiny = load_backbone("tiny", device="cpu")
    chosen: tuple[Feature, ...] = ("numbers", "statistics")

    def read(text: str) -> torch.Tensor:
        trace = Trace(id="a", problem="p", steps=[Step(text)])
        return compute_features(tiny, encode([trace], tiny.tokenizer, tiny.layout, 99), BUDGET, chosen)

    width = heads_width(feature_width(tiny.width, chosen), chosen)
    assert not read("Step 7: We begin.")[:, :width].any()
    assert read("We begin with 7.")[:, :width].any()


def test_statistics_and_states_of_numbers_leave_out_words(backbone: Backbone) -> None:
    steps = [Step("no number at all"), Step("")]
    [item] = encode([Trace(id="a", problem="p", steps=steps)], backbone.tokenizer, backbone.layout, backbone.context)
    rows = compute_features(backbone, [item], BUDGET, ("numbers", "statistics"))
    read = rows[:, : heads_width(rows.shape[1], ("numbers", "statistics"))]
    assert not read.any()
    assert (rows[0, -len(UNREAD) :] > 0).all()


def test_heads_do_not_read_the_surprisal_of_all_tokens() -> None:
    torch.manual_seed(0)
    width = heads_width(len(STATISTICS), ("statistics",))
    heads = Heads(2, width, 4, 0.0).eval()
    rows = torch.randn(5, len(STATISTICS))
    heads.standardise_on(rows)
    other = rows.clone()
    other[:, width:] += 100
    torch.testing.assert_close(heads(rows), heads(other), rtol=0, atol=0)


def test_other_words_move_what_heads_read_little_more_than_one_false_result() -> None:
    """With the states and statistics of all words, they moved it 3.7 times as far."""
    tiny, features = load_backbone("tiny", device="cpu"), TrainConfig().features
    right = [trace for trace in generate(WorldConfig(), split="pool", n=40, seed=1) if first_error(trace) == -1]
    false = {number: made for number, trace in enumerate(right) if (made := falsify(trace, Random(0)))}

    def read(some: list[Trace]) -> list[torch.Tensor]:
        items = encode(some, tiny.tokenizer, tiny.layout, tiny.context)
        rows = compute_features(tiny, items, 4096, features)
        return list(rows[:, : heads_width(rows.shape[1], features)].split([len(item.spans) for item in items]))

    own = read(right)
    scale = torch.cat(own).std(0).clamp(min=1e-4)

    def moved(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
        return ((before - after) / scale).abs().clamp(max=8).mean(-1)

    worded = read([edited for trace in right if (edited := rephrase(trace, Random(0)))])
    by_words = torch.cat([moved(*both) for both in zip(own, worded, strict=True)]).mean()
    falsified = zip(false.items(), read([made for made, _ in false.values()]), strict=True)
    by_result = torch.stack([moved(own[number][place], rows[place]) for (number, (_, place)), rows in falsified]).mean()
    assert by_words < 1.5 * by_result


@pytest.mark.parametrize("features", [(), ("last", "last"), ("first",)])
def test_features_must_be_known_and_named_once(features: tuple[str, ...]) -> None:
    with pytest.raises(msgspec.ValidationError, match="features"):
        msgspec.json.decode(msgspec.json.encode({"features": features}), type=TrainConfig)
