"""The card says who made what, what was tested, what is wrong, and of the rest that it is not recorded."""

import json
from pathlib import Path

import msgspec
import pytest

from prm.__main__ import main
from prm.cards import About, model_card
from prm.cards.model import Audit
from prm.config import TrainConfig
from prm.evaluation.evaluation import Evaluation, measure
from prm.files import write_json
from prm.formats.benchmark import Benchmark
from prm.manifest import MANIFEST_FILE, WEIGHTS_FILE, Counts, Manifest, Provenance, file_sha256
from prm.scores import TraceScore
from prm.threshold import Threshold
from prm.traces import Trace
from tests.unit.prm.evaluation.hand_made import HAND_MADE, score, trace

PROVENANCE = Provenance(
    solutions=12,
    generators={"policy-7b": 8, "": 4},
    domains={"math": 12},
    label_sources={"human": 9, "model_judge": 2, "": 1},
    people=3,
    machines={"model_judge: judge-7b": 2},
    pairs=4,
    agreeing_pairs=3,
    with_tools=5,
)


def manifest(provenance: Provenance | None = PROVENANCE, **config: object) -> Manifest:
    return Manifest(
        base="tiny",
        base_sha256="b" * 64,
        config=TrainConfig(**config),
        data_sha256="d" * 64,
        counts=Counts(10, 5, 2, 40, 30.0, 10.0, 0, 3, right_answers=6, wrong_answers=4, provenance=provenance),
        temperature=1.5,
        threshold=Threshold(0.4),
        fitted_on="validation",
        metrics={},
        created_at="2026-01-02T03:04:05+00:00",
        seconds=12.0,
        versions={},
        checksums={WEIGHTS_FILE: "w" * 64},
    )


def evaluation(weights: str | None = "w" * 64):
    traces, scores = map(list, zip(*HAND_MADE, strict=True))
    benchmark = Benchmark("ProcessBench", "steps", {"gsm8k.json": "f" * 64}, [traces], "holdout")
    return measure(
        benchmark,
        scores,
        model="m",
        model_sha256=weights,
        threshold=Threshold(0.5),
        fitted_on="math.json",
        bootstrap=10,
    )


def test_the_makers_are_told_apart() -> None:
    card = model_card(manifest(outcome_weight=0.5, process_weight=1.0))
    for said in (
        "Base model: `tiny` (sha256 bbbbbbbbbbbb), frozen.",
        "Process part: an ensemble of 12 heads",
        "Outcome part: an ensemble of 12 heads predicts p(the final answer is right) at the last step, trained on "
        "6 right and 4 wrong answers (weight 0.5).",
        "Policy models that generated the solutions: policy-7b (8), not recorded (4).",
        "Tool scaffold: not recorded. 5 of 12 solutions have tool steps.",
        "Human labels: 9 solutions, by 3 people known by pseudonym; "
        "75\xa0% of 4 pairs of labels of one solution name the same first error.",
        "Automated judges, Monte Carlo estimates and heuristics: model_judge: judge-7b (2).",
        "The source of the labels of 1 solution is not recorded.",
        "No evaluation is recorded.",
        "Unknown: the model was not evaluated.",
        "3 steps of the training data were beyond the context",
        "Deployment monitor: not recorded.",
    ):
        assert said in card


def test_what_the_data_do_not_say_is_not_recorded() -> None:
    for provenance in (None, Provenance(2, {"": 2}, {"": 2}, {"": 2})):
        card = model_card(manifest(provenance))
        assert "generated the solutions: not recorded." in card
        assert "heuristics: not recorded." in card or "Automated judges: not recorded." in card
    people_only = Provenance(2, {"": 2}, {"": 2}, {"human": 2}, people=1)
    card = model_card(manifest(people_only))
    assert "by 1 person known by pseudonym; their agreement is not recorded." in card
    assert "heuristics: none recorded." in card


def test_a_process_only_model_says_that_it_learned_no_answers() -> None:
    assert "Outcome part: none: no score was trained on final answers." in model_card(manifest())


def test_what_was_tested_stands_with_file_date_and_weakness() -> None:
    card = model_card(
        manifest(), evaluations=[evaluation()], audits=[Audit("## Audit\n\nfail: length", ["Length: it leans on it."])]
    )
    assert "`m` on ProcessBench: gsm8k.json (sha256 ffffffffffff)" in card
    assert "That was fitted on: math.json." in card
    assert "## Audit\n\nfail: length" in card
    assert "- ProcessBench: Without a score: 1 step of 1 solution. Each such solution is a miss." in card
    assert "- Audit: Length: it leans on it." in card
    assert "not audited" not in card


def measured(traces: list[Trace], scores: list[TraceScore], *, bootstrap: int) -> Evaluation:
    benchmark = Benchmark("ours", "steps", {}, [traces], "pool")
    return measure(benchmark, scores, model="m", threshold=Threshold(0.5), fitted_on="", bootstrap=bootstrap)


def test_the_worst_slice_is_named_where_it_is_large_enough() -> None:
    pairs = []
    for domain, p in {"easy": 0.1, "hard": 0.9}.items():
        pairs += [(trace(f"{domain}{i}", 1, 0, domain), score(f"{domain}{i}", p)) for i in range(8)]
        pairs += [(trace(f"{domain}-{i}", 1, -1, domain), score(f"{domain}-{i}", 0.9)) for i in range(8)]
    traces, scores = map(list, zip(*pairs, strict=True))
    found = measured(traces, scores, bootstrap=0)
    assert "- ours: By domain the lowest ProcessBench F1 is .000: hard, 16 solutions." in model_card(
        manifest(), evaluations=[found]
    )


def test_a_model_that_a_baseline_matches_is_said_to_be_no_better() -> None:
    traces = [trace(str(i), 2, 1) for i in range(6)]
    scores = [score(str(i), 0.5, 0.5 - 0.1 * (i % 2)) for i in range(6)]
    found = measured(traces, scores, bootstrap=20)
    assert "is not clearly above that of a step's position alone, 1.000." in model_card(manifest(), evaluations=[found])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / WEIGHTS_FILE).write_bytes(b"weights")
    whole = msgspec.structs.replace(manifest(), checksums={WEIGHTS_FILE: file_sha256(tmp_path / WEIGHTS_FILE)})
    (tmp_path / MANIFEST_FILE).write_bytes(msgspec.json.encode(whole))
    return tmp_path


def test_the_command_gathers_what_lies_in_the_folder(folder: Path, tmp_path_factory, capsys) -> None:
    out = tmp_path_factory.mktemp("out") / "processbench.json"
    write_json(out, [evaluation(file_sha256(folder / WEIGHTS_FILE))])
    (folder / "audit").mkdir()
    (folder / "audit" / "AUDIT.md").write_text("## Audit\n\nall is well\n")
    findings = [{"title": t, "verdict": t, "sentence": f"It did {t}."} for t in ("ok", "fail")]
    (folder / "audit" / "report.json").write_text(json.dumps({"findings": findings}))
    scaffold = ["--tool-scaffold", "a shell in a container"]
    assert main(["card", "--model", str(folder), "--evaluation", str(out), *scaffold]) == 0
    card = (folder / "CARD.md").read_text()
    assert card in capsys.readouterr().out
    assert "It did ok." not in card
    for said in (
        "Tool scaffold: a shell in a container.",
        "all is well",
        "`m` on ProcessBench",
        "Audit: fail: It did fail.",
    ):
        assert said in card
    assert main(["card", "--model", str(folder), "--deployment-monitor", "none"]) == 0
    again = (folder / "CARD.md").read_text()
    assert "a shell in a container" in again
    assert "Deployment monitor: none." in again
    assert json.loads((folder / "about.json").read_text()) == {
        "tool_scaffold": "a shell in a container", "deployment_monitor": "none"
    }  # fmt: skip


def test_an_audit_of_earlier_weights_is_not_shown(folder: Path, capsys) -> None:
    audit = folder / "audit"
    audit.mkdir()
    (audit / "AUDIT.md").write_text("## Audit\n\nall is well\n")
    (audit / "report.json").write_text(json.dumps({"findings": [], "model_sha256": "0" * 64}))
    assert main(["card", "--model", str(folder)]) == 2
    assert "AUDIT.md is an audit of other weights." in capsys.readouterr().err
    (audit / "report.json").write_text(json.dumps({"findings": [], "model_sha256": file_sha256(folder / WEIGHTS_FILE)}))
    assert main(["card", "--model", str(folder)]) == 0


def test_evaluations_of_different_data_do_not_replace_each_other(folder: Path, tmp_path_factory) -> None:
    weights = file_sha256(folder / WEIGHTS_FILE)
    first, second = (tmp_path_factory.mktemp("out") / "result.json" for _ in range(2))
    write_json(first, [evaluation(weights)])
    write_json(second, [msgspec.structs.replace(evaluation(weights), data="Other", files={"other.json": "0" * 64})])
    assert main(["card", "--model", str(folder), "--evaluation", str(first), str(second)]) == 0
    for name in ("ProcessBench", "Other"):
        assert f"### {name}" in (folder / "CARD.md").read_text()
    write_json(second, [msgspec.structs.replace(evaluation(weights), data="Again", files={"other.json": "0" * 64})])
    assert main(["card", "--model", str(folder), "--evaluation", str(second)]) == 0
    card = (folder / "CARD.md").read_text()
    assert "### ProcessBench" in card
    assert "### Again" in card
    assert "### Other" not in card


def test_an_evaluation_may_already_be_in_the_folder(folder: Path, capsys) -> None:
    own = folder / "evaluations" / "result.json"
    write_json(own, [evaluation(file_sha256(folder / WEIGHTS_FILE))])
    assert main(["card", "--model", str(folder), "--evaluation", str(own)]) == 0
    assert (folder / "CARD.md").read_text().count("### ProcessBench") == 1
    assert list((folder / "evaluations").iterdir()) == [own]


def test_with_an_evaluation_of_other_weights_none_is_stored(folder: Path, tmp_path_factory, capsys) -> None:
    own, other = (tmp_path_factory.mktemp("out") / f"{name}.json" for name in ("own", "other"))
    write_json(own, [evaluation(file_sha256(folder / WEIGHTS_FILE))])
    write_json(other, [evaluation("o" * 64)])
    assert main(["card", "--model", str(folder), "--evaluation", str(own), str(other)]) == 2
    assert "is an evaluation of another model, 'm'" in capsys.readouterr().err
    assert not (folder / "evaluations").exists()
    assert model_card(manifest(), about=About(human_labels="Paid by the hour.")).count("Paid by the hour.") == 1
