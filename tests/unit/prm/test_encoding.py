"""Encoding: separators, truncation, and text that spells a special token."""

from prm.backbones import Backbone
from prm.encoding import Layout, encode
from prm.traces import Step, Trace


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
