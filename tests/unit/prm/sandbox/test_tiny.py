"""The shipped tiny backbone: what its manifest says is true."""

import hashlib
import json
import re
from pathlib import Path
from random import Random

import pytest

import prm
from prm.encoding import render_step
from prm.sandbox import WORLD_VERSION
from prm.traces import Step

TINY = Path(prm.__file__).parent / "tiny"
MANIFEST = json.loads((TINY / "manifest.json").read_text())


@pytest.fixture(scope="module")
def tiny():
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(TINY, trust_remote_code=False).eval()
    return model, AutoTokenizer.from_pretrained(TINY, trust_remote_code=False)


def test_every_file_is_the_one_in_the_manifest():
    files = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in TINY.iterdir() if p.name != "manifest.json"}
    assert files == MANIFEST["sha256"]
    assert (TINY / "model.safetensors").stat().st_size <= 8 << 20
    assert MANIFEST["world_version"] == WORLD_VERSION


def test_the_model_is_small_single_precision_and_reads_long_texts(tiny):
    model, tokenizer = tiny
    assert sum(p.numel() for p in model.parameters()) == MANIFEST["parameters"] <= 3_000_000
    assert {p.dtype.itemsize for p in model.parameters()} == {4}
    assert model.config.max_position_embeddings >= 1024
    assert len(tokenizer) == model.config.vocab_size


def test_the_tokenizer_encodes_any_text_with_single_digits(tiny):
    _, tokenizer = tiny
    text = r"naïve ∑ 数 \frac{12}{345}" + "\n```python\nx = 2026\n```\t🙂"
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert tokenizer.decode(ids) == text
    digits = [token for token in tokenizer.convert_ids_to_tokens(ids) if any(c.isdigit() for c in token)]
    assert all(len(token) == 1 for token in digits)


def test_the_tokenizer_reads_signs_that_the_world_does_not_have_as_its_own(tiny):
    _, tokenizer = tiny
    ids = tokenizer(["6 × 2 ÷ 3 − 1", "6 * 2 / 3 - 1"], add_special_tokens=False)["input_ids"]
    assert ids[0] == ids[1]


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("- **We** add 3 + 4 = 7.", "We add 3 + 4 = 7."),
        ("* **Total**: 3 * 4 = 12", "Total: 3 * 4 = 12"),
        ("• First, 2 apples.", "First, 2 apples."),
        ("**In** 2 years, **12**.", "In 2 years, 12."),
        ("**Step 3:** it is **$x^2$**", "Step 3: it is $x^2$"),
        ("[answer] - **The** answer is 5.", "[answer] The answer is 5."),
    ],
)
def test_the_tokenizer_does_not_read_marks_of_list_items_and_bold_text(tiny, marked, plain):
    _, tokenizer = tiny
    ids = tokenizer([marked, plain], add_special_tokens=False)["input_ids"]
    assert ids[0] == ids[1]


@pytest.mark.parametrize(
    "text",
    [
        *("2 ** 3 ** 4", "x**n + y**2 = 4", "10**6 and 10**7.", "(a + b)** 2", "f(**options), **more", "fold**(2)"),
        *("- 3 + 5 = 2", "-3", "a - b", "[tool_result] - old line", "** x", "**open", "see **2** 3"),
    ],
)
def test_the_tokenizer_reads_powers_differences_and_single_marks(tiny, text):
    _, tokenizer = tiny
    assert tokenizer.decode(tokenizer(text, add_special_tokens=False)["input_ids"]) == text


def test_separators_are_single_tokens(tiny):
    _, tokenizer = tiny
    specials = ["<pad>", "<bos>", "<eos>", "<problem>", "<step>"]
    assert tokenizer.convert_tokens_to_ids(specials) == [0, 1, 2, 3, 4]
    assert tokenizer("a<step>b", add_special_tokens=False)["input_ids"].count(4) == 1


@pytest.mark.slow
def test_fresh_solutions_surprise_it_no_more_than_the_manifest_says(tiny):
    from prm.sandbox.pretrain import fresh_documents, perplexity

    model, tokenizer = tiny
    reached = {name: perplexity(model, documents[::4]) for name, documents in fresh_documents(tokenizer).items()}
    bounds = {name: figures["bound"] for name, figures in MANIFEST["perplexity"].items()}
    assert reached.keys() == bounds.keys() == {"alone", "in chains", "in other words"}
    assert all(reached[name] < bound for name, bound in bounds.items()), reached


def test_a_chain_states_all_problems_and_then_has_all_steps():
    from prm.sandbox.pretrain import join_solutions

    solutions = [(f"What is {n} + {n}?", [Step(f"Add {n}."), Step("look(1)", kind="tool_call")]) for n in range(100)]
    chains = list(join_solutions(solutions, Random(3)))
    assert len(chains) > 5
    texts = [step.text for _, steps in chains for step in steps]
    assert [text[-len(f"Add {n}.") :] for n, text in enumerate(texts[::2])] == [f"Add {n}." for n in range(100)]
    assert texts[1::2] == ["look(1)"] * 100
    for problem, steps in chains:
        assert problem.count("What is") == len(steps) / 2
    assert len({problem.partition("What")[0] for problem, _ in chains}) > 3


def test_it_reads_the_format_that_training_and_scoring_use(tiny):
    from prm.backbones import load_backbone
    from prm.encoding import encode as encode_traces
    from prm.sandbox.pretrain import as_pieces, encode
    from prm.traces import Trace

    _, tokenizer = tiny
    steps = [Step("Add 2 and 3."), Step('search("Oslo")', kind="tool_call")]
    backbone = load_backbone("tiny", device="cpu")
    encoded = encode_traces([Trace(id="t", problem="What?", steps=steps)], backbone.tokenizer, backbone.layout, 1024)[0]
    ids, targets = encode(tokenizer, "What?", as_pieces(steps))
    assert ids == targets
    assert ids[:-1] == list(encoded.ids)


def test_unrelated_text_is_read_and_not_learned(tiny):
    from prm.sandbox.pretrain import PAD, encode

    _, tokenizer = tiny
    ids, targets = encode(tokenizer, "What?", [[("Other words: ", False), ("add 2 and 3.", True)], [("Well.", False)]])
    plain, _ = encode(tokenizer, "What?", [[("add 2 and 3.", True)], []])
    assert tokenizer.decode(ids[1:-1]) == "What?<problem>Other words: add 2 and 3.<step>Well.<step>"
    assert [token for token in targets if token != PAD] == plain
    assert all(target in (token, PAD) for token, target in zip(ids, targets, strict=True))


def test_other_words_keep_the_numbers_of_every_step():
    from prm.sandbox.wordings import reword

    steps = [Step("So 12 + 7 + 30 = 49."), Step("look(1)", kind="tool_call"), Step("Therefore the answer is 49.")]
    texts = []
    for seed in range(300):
        told = ["".join(text for text, learned in step if learned) for step in reword(steps, Random(seed))]
        assert render_step(steps[1]) in told
        numbers = [sorted(re.findall(r"\d+", text)) for text in told]
        assert ["12", "30", "49", "7"] in numbers
        assert ["49"] in numbers
        texts += told
    assert len(set(texts)) > 30
