"""Models from elsewhere score as their own code would have them score; what is not safe is refused with the reason."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen2Config, Qwen2ForTokenClassification

from prm.errors import ModelFileError
from prm.portable.importing import adopt
from prm.scoring import Scorer
from tests.unit.prm.small_world import make_traces

SIZE = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
}
TRACES = make_traces(5, seed=4)


@pytest.fixture
def classifier(tmp_path, backbone_folders):
    """What TRL's PRM trainer leaves: a token classifier with its tokenizer."""
    folder = tmp_path / "classifier"
    tokenizer = AutoTokenizer.from_pretrained(backbone_folders["qwen2"])
    torch.manual_seed(1)
    model = Qwen2ForTokenClassification(Qwen2Config(vocab_size=len(tokenizer), num_labels=2, **SIZE)).eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@torch.no_grad()
def by_trl(folder, trace, separator):
    """As the trainer lays examples out, read at each step's last token."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = Qwen2ForTokenClassification.from_pretrained(folder).eval()

    def ids(text):
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    row, ends = [tokenizer.bos_token_id, *ids(trace.problem)], []
    for step in trace.steps:
        row += ids(step.text) + ids(separator)
        ends.append(len(row) - 1)
    return model(torch.tensor([row])).logits[0].double().softmax(1)[ends, 1].tolist()


@pytest.mark.parametrize("separator", ["\n", " **"])
def test_a_token_classifier_scores_as_it_was_trained_to(tmp_path, classifier, separator):
    manifest = adopt(classifier, tmp_path / "model", separator=separator)
    assert manifest.outside.kind == "token_classification"
    for trace, score in zip(TRACES, Scorer.load(tmp_path / "model", device="cpu").score(TRACES), strict=True):
        assert score.mean == pytest.approx(by_trl(classifier, trace, separator), abs=1e-5)
        assert score.spread == [None] * len(trace.steps), "one head cannot say how sure it is"


def test_a_process_reward_model_scores_without_its_code(tmp_path, classifier, backbone_folders):
    """The layout of Qwen2.5-Math-PRM: a chat, `<extra_0>` after each step, two layers with a ReLU between."""
    folder = tmp_path / "reward"
    tokenizer = AutoTokenizer.from_pretrained(classifier)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>", "<extra_0>"]})
    torch.manual_seed(2)
    model = Qwen2ForTokenClassification(Qwen2Config(vocab_size=len(tokenizer), num_labels=2, **SIZE)).eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    tensors = {name: tensor for name, tensor in load_file(folder / "model.safetensors").items() if "score" not in name}
    inner, outer = torch.nn.Linear(32, 32), torch.nn.Linear(32, 2)
    tensors |= {f"score.0.{name}": tensor.detach() for name, tensor in inner.named_parameters()}
    tensors |= {f"score.2.{name}": tensor.detach() for name, tensor in outer.named_parameters()}
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config["architectures"], config["auto_map"] = ["Qwen2ForProcessRewardModel"], {"AutoModel": "modeling.Evil"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "modeling.py").write_text("raise SystemExit('its code was run')")

    manifest = adopt(folder, tmp_path / "model")
    assert (manifest.outside.kind, manifest.outside.layers) == ("process_reward", 2)
    assert not list((tmp_path / "model").rglob("*.py"))
    trace = TRACES[0]
    text = "<|im_start|>system\nPlease reason step by step, and put your final answer within \\boxed{}.<|im_end|>\n"
    text += f"<|im_start|>user\n{trace.problem}<|im_end|>\n<|im_start|>assistant\n"
    text += "".join(f"{step.text}<extra_0>" for step in trace.steps)
    ids = torch.tensor(tokenizer(text, add_special_tokens=False)["input_ids"])
    with torch.no_grad():
        states = model.model(ids[None]).last_hidden_state[0][ids == tokenizer.convert_tokens_to_ids("<extra_0>")]
        expected = outer(torch.relu(inner(states))).double().softmax(1)[:, 1].tolist()
    (score,) = Scorer.load(tmp_path / "model", device="cpu").score([trace])
    assert score.mean == pytest.approx(expected, abs=1e-5)


LLAMA_CHAT = (
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{{ m.content | trim }}<|eot_id|>{% endfor %}"
)


def answering(folder, family, backbone_folders):
    """A causal LM of random weights, large enough that "+" and "-" differ."""
    model = AutoModelForCausalLM.from_pretrained(backbone_folders[family]).eval()
    tokenizer = AutoTokenizer.from_pretrained(backbone_folders[family])
    tokenizer.chat_template = LLAMA_CHAT
    tokenizer.add_special_tokens(
        {"additional_special_tokens": ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]}
    )
    torch.manual_seed(3)
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(6)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return tokenizer, model


@torch.no_grad()
def by_math_shepherd(tokenizer, model, trace):
    """The code on the card of peiyi9979/math-shepherd-mistral-7b-prm; this tokenizer adds no first token itself."""
    good_token, bad_token, step_tag = "+", "-", "ки"
    candidate_tokens = [tokenizer.encode(token)[-1] for token in (good_token, bad_token)]
    output = "\n".join(f"{step.text} {step_tag}" for step in trace.steps)
    input_id = torch.tensor([[tokenizer.bos_token_id, *tokenizer.encode(f"{trace.problem} {output}")]])
    logits = model(input_id).logits[:, :, candidate_tokens]
    scores = logits.softmax(dim=-1)[:, :, 0]
    tag = tokenizer.encode(f" {step_tag}")  # one token in its vocabulary, several here: the last one counts
    ends = [i for i in range(len(input_id[0])) if input_id[0, i + 1 - len(tag) : i + 1].tolist() == tag]
    return scores[0, ends].tolist()


@torch.no_grad()
def by_rlhflow(tokenizer, model, trace):
    """The scoring loop of RLHFlow/RLHF-Reward-Modeling, math-rm: one conversation for each step."""
    candidate_tokens = [tokenizer.encode("+")[-1], tokenizer.encode("-")[-1]]
    conversation, scores = [], []
    for k, step in enumerate(trace.steps):
        text = trace.problem + " " + step.text if k == 0 else step.text
        conversation.append({"content": text, "role": "user"})
        conversation.append({"content": "+", "role": "assistant"})
        text = tokenizer.apply_chat_template(conversation, tokenize=False)
        logits = model(torch.tensor([tokenizer.encode(text, add_special_tokens=False)])).logits[:, -3, candidate_tokens]
        scores.append(logits.softmax(dim=-1)[0, 0].item())
    return scores


@pytest.mark.parametrize(
    ("answers", "family", "by_its_code"),
    [
        ("math_shepherd", "mistral", by_math_shepherd),
        ("rlhflow", "llama", by_rlhflow),
        ("rlhflow", "qwen2", by_rlhflow),
    ],
)
def test_a_model_that_answers_plus_or_minus_scores_as_its_code_does(
    answers, family, by_its_code, tmp_path, backbone_folders
):
    loaded = answering(tmp_path / "source", family, backbone_folders)
    manifest = adopt(tmp_path / "source", tmp_path / "model", answers=answers)
    assert (manifest.outside.kind, manifest.outside.layers) == ("token_logits", 1)
    scorer = Scorer.load(tmp_path / "model", device="cpu")
    for trace, score in zip(TRACES, scorer.score(TRACES), strict=True):
        expected = by_its_code(*loaded, trace)
        assert max(expected) - min(expected) > 0.01, "else equal scores say nothing"
        assert score.mean == pytest.approx(expected, abs=1e-5)
        with scorer.session(trace.problem) as session:
            assert [session.append(step).mean for step in trace.steps] == pytest.approx(expected, abs=1e-5)


def test_a_model_that_answers_needs_an_architecture_with_plain_logits(classifier, tmp_path):
    with pytest.raises(ModelFileError, match=r"expected one of LlamaForCausalLM, .* got Qwen2ForTokenClassification"):
        adopt(classifier, tmp_path / "model", answers="rlhflow")


def pickled(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def linked(folder):
    (folder / "vocab.txt").symlink_to("/etc/hostname")


def torn(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def generator(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["Qwen2ForCausalLM"]}))


def beheaded(folder):
    tensors = load_file(folder / "model.safetensors")
    save_file({n: t for n, t in tensors.items() if "score" not in n}, folder / "model.safetensors", {"format": "pt"})


def without_a_layer(folder):
    tensors = load_file(folder / "model.safetensors")
    tensors.pop("model.layers.1.mlp.up_proj.weight")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def nameless(folder):
    (folder / "config.json").write_text("{}")


def without_config(folder):
    (folder / "config.json").unlink()


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (
            pickled,
            "pickled weights .pytorch_model.bin., which may run code when they are read: save them as safetensors",
        ),
        (linked, "vocab.txt is a link"),
        (torn, "corrupt|Error"),
        (generator, r"expected one of …ForTokenClassification, .*, got Qwen2ForCausalLM\. .* needs `answers`"),
        (nameless, "field `architectures`: expected .*, got nothing"),
        (beheaded, "no linear head named score or classifier"),
        (without_a_layer, "has no weights for .*up_proj"),
        (without_config, "has no config.json"),
    ],
)
def test_what_cannot_be_trusted_or_read_is_refused_with_the_reason(tmp_path, classifier, spoil, reason):
    spoil(classifier)
    with pytest.raises(ModelFileError, match=reason):
        adopt(classifier, tmp_path / "model")
    assert not (tmp_path / "model").exists()
    assert not list(tmp_path.glob("*.partial"))


def test_a_class_or_a_folder_that_is_not_there_is_refused(tmp_path, classifier):
    with pytest.raises(ModelFileError, match="has 2 classes"):
        adopt(classifier, tmp_path / "model", good=2)
    with pytest.raises(ModelFileError, match="is not a folder"):
        adopt(tmp_path / "nowhere", tmp_path / "model")
