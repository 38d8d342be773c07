"""Encoding: separators, truncation, and text that spells a special token."""

import shutil
from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from prm.backbones import Backbone, load_backbone
from prm.config import TrainConfig
from prm.encoding import Layout, encode
from prm.errors import ModelFileError
from prm.portable.classifiers import MARKER
from prm.portable.importing import QWEN_SYSTEM, _reward_layout
from prm.scoring import Scorer
from prm.traces import Step, Trace, write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces


def test_steps_end_with_the_separator_and_do_not_see_what_follows(backbone: Backbone) -> None:
    short = Trace("a", "Add 1.", [Step("one")])
    long = Trace("b", "Add 1.", [Step("one"), Step("run()", kind="tool_call")])
    [first, second] = encode([short, long], backbone.tokenizer, backbone.layout, 512)
    assert second.ids[: len(first.ids)] == first.ids
    assert second.spans[0] == first.spans[0]
    for start, end in second.spans:
        assert second.ids[start:end][-len(backbone.layout.step_end) :] == backbone.layout.step_end
    text = backbone.tokenizer.decode(second.ids[second.spans[1][0] : second.spans[1][1]])
    assert text.startswith("[tool_call] run()")


def test_a_blank_line_separates_where_the_vocabulary_has_no_separators(backbone_folders, backbone: Backbone) -> None:
    layout = Layout.of(backbone.tokenizer)
    if "<step>" in backbone.tokenizer.get_vocab():
        assert layout.step_end == (backbone.tokenizer.get_vocab()["<step>"],)
    else:
        assert backbone.tokenizer.decode(layout.step_end) == "\n\n"


CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content | trim }}<|im_end|>\n{% endfor %}"
)


@pytest.fixture
def chatting(backbone_folders, tmp_path: Path) -> Path:
    """A backbone whose tokenizer has the template and the step token of Qwen2.5-Math-PRM."""
    folder = tmp_path / "chatting"
    shutil.copytree(backbone_folders["qwen2"], folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>", "<extra_0>"]})
    tokenizer.chat_template = CHATML
    tokenizer.save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    model.save_pretrained(folder)
    return folder


def test_a_chat_template_lays_out_what_qwens_model_card_does(chatting: Path) -> None:
    backbone = load_backbone(str(chatting), device="cpu")
    layout = Layout.of(backbone.tokenizer, template="chat", system=QWEN_SYSTEM, separator=MARKER)
    assert layout == _reward_layout(backbone)


def test_a_model_is_scored_in_the_layout_that_it_was_trained_in(chatting: Path, tmp_path: Path) -> None:
    write_traces(tmp_path / "data.jsonl", make_traces(16, seed=2))
    choices = {"template": "chat", "system_prompt": "Check each step.", "separator": "<extra_0>"}
    config = TrainConfig(base=str(chatting), heads=2, hidden=4, epochs=1, **choices)
    train(data=tmp_path / "data.jsonl", out=tmp_path / "model", config=config)
    scorer = Scorer.load(tmp_path / "model")
    assert scorer.manifest is not None
    assert scorer.manifest.config.template == "chat"
    [encoded] = encode([Trace("a", "1 + 1?", ["2", "So 2."])], scorer.reader.tokenizer, scorer.reader.layout, 512)
    text = "<|im_start|>system\nCheck each step.<|im_end|>\n<|im_start|>user\n1 + 1?<|im_end|>\n"
    text += "<|im_start|>assistant\n2<extra_0>So 2.<extra_0>"
    assert scorer.reader.tokenizer.decode(encoded.ids) == text


def test_a_layout_that_the_tokenizer_does_not_have_is_refused(chatting: Path, backbone: Backbone) -> None:
    with pytest.raises(ModelFileError, match=r"the template chat cannot be used: .+ Use the template plain"):
        Layout.of(backbone.tokenizer, template="chat")
    tokenizer = AutoTokenizer.from_pretrained(chatting)
    tokenizer.chat_template = "{{ messages[0].content }}"
    with pytest.raises(ModelFileError, match="leaves out the problem or the steps"):
        Layout.of(tokenizer, template="chat")
    with pytest.raises(ValueError, match="system_prompt requires the template chat"):
        TrainConfig(system_prompt="Check each step.")


def test_text_cannot_forge_a_separator(backbone: Backbone) -> None:
    [encoded] = encode(
        [Trace("a", "<problem> <step> <bos>", [Step("x <step> y")])], backbone.tokenizer, backbone.layout, 512
    )
    specials = set(backbone.tokenizer.all_special_ids)
    inside = [*encoded.ids[1 : encoded.spans[0][0] - len(backbone.layout.problem_end)]]
    inside += encoded.ids[encoded.spans[0][0] : encoded.spans[0][1] - len(backbone.layout.step_end)]
    assert not specials & set(inside)


def test_steps_past_the_context_are_left_out(backbone: Backbone) -> None:
    trace = Trace("a", "p", [Step("x" * 10) for _ in range(5)])
    [whole] = encode([trace], backbone.tokenizer, backbone.layout, 512)
    end = whole.spans[2][1]
    [cut] = encode([trace], backbone.tokenizer, backbone.layout, end)
    assert (cut.spans, cut.n_steps, len(cut.ids)) == (whole.spans[:3], 5, end)
    [none] = encode([Trace("b", "p" * 600, [Step("x")])], backbone.tokenizer, backbone.layout, 512)
    assert (none.spans, none.ids) == ((), ())
