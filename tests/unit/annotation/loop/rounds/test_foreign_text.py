"""Text unlike what the model learned from is flagged and gets no verdict; familiar text is left alone."""

import json
import random
import string

import pytest

from annotation.loop.gateway import serving_model
from annotation.loop.gateway.serving_model import ServingModel, Text
from prm.config import TrainConfig
from prm.sandbox.world import WorldConfig, generate
from prm.scoring import Scorer
from prm.traces import write_traces
from prm.training import train
from tests.real_data import real_data

LEGAL_PROSE = (
    "Neither party may assign its rights without the written consent of the other.",
    "Any notice shall be deemed received on the third working day after posting.",
    "The tenant shall keep the premises in good repair and shall not sublet them.",
    "In the event of late payment the creditor may charge interest at the statutory rate.",
    "The courts of the seller's seat have exclusive jurisdiction over any dispute.",
)
GREEK = ("Προσθέτουμε πρώτα τους δύο αριθμούς.", "Έπειτα διπλασιάζουμε το άθροισμα.", "Η απάντηση είναι δεκατέσσερα.")


@pytest.fixture(scope="module")
def scorer(tmp_path_factory) -> Scorer:
    """Trained on the sandbox; the flag does not depend on how long the heads learn."""
    folder = tmp_path_factory.mktemp("foreign")
    parts = [("pool", 300), ("calibration", 150)]
    traces = [trace for split, n in parts for trace in generate(WorldConfig(), split=split, n=n, seed=40)]
    write_traces(folder / "train.jsonl", traces)
    train(
        data=folder / "train.jsonl",
        out=folder / "model",
        config=TrainConfig(epochs=3, seed=40),
        report=lambda progress: None,
    )
    return Scorer.load(folder / "model", device="cpu")


@pytest.fixture
def model(scorer: Scorer, monkeypatch: pytest.MonkeyPatch) -> ServingModel:
    monkeypatch.setattr(serving_model, "loaded_scorer", lambda version: scorer)
    return ServingModel(None, cache_bytes=1 << 28)


@pytest.fixture(scope="module")
def familiar() -> list[Text]:
    """Fresh sandbox problems that the model has not seen."""
    fresh = generate(WorldConfig(), split="holdout", n=120, seed=41)
    return [Text(trace.problem, tuple((step.text, step.kind) for step in trace.steps)) for trace in fresh]


def text_of(problem: str, steps) -> Text:
    return Text(problem, tuple((step, "reasoning") for step in steps if step.strip()))


def random_letters(rng: random.Random) -> str:
    return " ".join("".join(rng.choices(string.ascii_lowercase, k=rng.randrange(2, 9))) for _ in range(8))


def answers(model: ServingModel, texts: list[Text]):
    return model.score(texts, ["product"] * len(texts))


def flagged_share(model: ServingModel, texts: list[Text]) -> float:
    found = answers(model, texts)
    assert all(one.abstained for one in found if one.out_of_domain), "a verdict was given on flagged text"
    return sum(one.out_of_domain for one in found) / len(found)


@pytest.mark.parametrize("kind", ["letters", "prose", "script"])
@pytest.mark.parametrize("steps", [1, 6])
def test_invented_foreign_text_is_flagged_from_its_first_step_on(model: ServingModel, kind: str, steps: int):
    rng = random.Random(kind)
    sentence = {
        "letters": lambda: random_letters(rng),
        "prose": lambda: rng.choice(LEGAL_PROSE),
        "script": lambda: rng.choice(GREEK),
    }[kind]
    texts = [text_of(sentence(), [sentence() for _ in range(steps)]) for _ in range(20)]
    assert flagged_share(model, texts) >= 0.95


@pytest.mark.parametrize("steps", [1, 2, None])
def test_familiar_text_is_flagged_about_as_often_as_promised(model: ServingModel, familiar: list[Text], steps):
    """5 % is the aim; the bars are of 150 calibration solutions, and a solution cut short is none the stranger."""
    assert flagged_share(model, [Text(text.problem, text.steps[:steps]) for text in familiar]) <= 0.12


def test_a_growing_solution_has_the_flag_of_the_whole(model: ServingModel, familiar: list[Text]):
    texts = [*familiar[:3], text_of("Sublet the premises.", LEGAL_PROSE)]
    for text in texts:
        for known in range(len(text.steps)):
            grown = model.append(Text(text.problem, text.steps[: known + 1], known), "product")
            [whole] = answers(model, [Text(text.problem, text.steps[: known + 1])])
            assert grown.distance == pytest.approx(whole.distance, rel=1e-3)
            assert (grown.out_of_domain, grown.abstained) == (whole.out_of_domain, whole.abstained)


@pytest.mark.parametrize("file", ["gsm8k.json", "math.json"])
def test_real_solutions_of_processbench_are_flagged(model: ServingModel, file: str):
    records = json.loads(real_data(f"processbench/{file}").read_text())
    assert flagged_share(model, [text_of(one["problem"], one["steps"]) for one in records[:20]]) >= 0.95


@pytest.mark.parametrize("task", ["logical_deduction", "word_sorting", "multistep_arithmetic"])
def test_real_solutions_of_big_bench_mistake_are_flagged(model: ServingModel, task: str):
    lines = real_data(f"big-bench-mistake/{task}.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines[:10]]
    assert flagged_share(model, [text_of(one["input"], one["steps"]) for one in records]) >= 0.95
