"""Files are told apart by what they hold, and read to traces whose labels mean the same."""

import gzip
import json
from pathlib import Path

import msgspec
import pytest

from prm.errors import DataError
from prm.formats.benchmark import read_benchmark, read_published
from prm.labels import first_error
from prm.scores import TraceScore, write_scores
from prm.traces import Step, Trace, write_traces
from tests.real_data import real_data

PROCESSBENCH = {
    "id": "gsm8k-3", "generator": "g", "problem": "p", "steps": ["a", "b"], "final_answer_correct": False, "label": 1
}  # fmt: skip
PRMBENCH = {
    "idx": "p1", "original_question": "o", "modified_question": "m", "original_process": ["x"],
    "modified_process": ["a", "b", "c"], "modified_steps": [2], "error_steps": [2, 3], "reason": "r",
    "classification": "redundency", "question": "o",
}  # fmt: skip
CANDIDATE = {
    "problem_id": "q", "candidate_index": 1, "problem": "p", "reference_answer": "4", "steps": ["a", "b"],
    "final_answer": None, "is_correct": True, "prm_step_scores": {"one": [0.5, 0.25], "two": [1.0, 0.0]},
}  # fmt: skip
SAMPLES = {
    "idx": 7, "question": "p", "answer": "4", "code": ["a\n\n b\n", "c"], "pred": ["4", "5"], "score": [True, False],
    "pred_score": [[3.5], [-1.0]],
}  # fmt: skip


def write(path: Path, *records: dict) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_processbench_is_read_from_an_array_and_from_lines(tmp_path: Path) -> None:
    array = tmp_path / "gsm8k.json"
    array.write_text(json.dumps([PROCESSBENCH], indent=2))
    lines = write(tmp_path / "gsm8k.jsonl", PROCESSBENCH)
    read, again = read_benchmark([array]), read_benchmark([lines])
    assert (read.name, read.judged) == ("ProcessBench", "steps")
    assert read.traces == again.traces
    assert read.files.keys() == {"gsm8k.json"}
    (trace,) = read.traces
    assert (trace.domain, trace.generator, trace.first_error, trace.final_answer_correct) == ("gsm8k", "g", 1, False)
    assert trace.split == "holdout"


def test_prmbench_counts_error_steps_from_one_and_keeps_the_unchanged_solution_beside(tmp_path: Path) -> None:
    read = read_benchmark([write(tmp_path / "b.jsonl", PRMBENCH, PRMBENCH)])
    changed, unchanged = read.traces
    assert (read.judged, changed.id, changed.domain, changed.problem) == (
        "prmbench",
        "redundency_p1",
        "redundency",
        "m",
    )
    assert [label.rating for label in changed.labels] == [1, -1, -1]
    assert first_error(changed) == 1
    assert (unchanged.id, unchanged.domain, unchanged.problem, first_error(unchanged)) == (
        "correct_p1",
        "correct",
        "o",
        -1,
    )
    assert changed.problem_id == unchanged.problem_id


def test_a_pool_carries_candidates_and_published_scores(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(CANDIDATE).encode()))
    (trace,) = read_benchmark([path]).traces
    assert (trace.id, trace.problem_id, trace.final_answer_correct, trace.first_error) == ("q/1", "q", True, None)
    published = read_published(path)
    assert {name: scores[0].mean for name, scores in published.items()} == {"one": [0.5, 0.25], "two": [1.0, 0.0]}
    assert published["one"][0].id == trace.id


def test_sampled_responses_are_parted_at_blank_lines_and_have_outcome_scores(tmp_path: Path) -> None:
    path = write(tmp_path / "samples.jsonl", SAMPLES)
    first, second = read_benchmark([path]).traces
    assert [step.text for step in first.steps] == ["a", "b"]
    assert (second.final_answer_correct, second.meta) == (False, {"final_answer": "5"})
    scores = read_published(path)["pred_score"]
    assert [(score.id, score.outcome, score.mean) for score in scores] == [
        ("7/0", 3.5, [None] * 2),
        ("7/1", -1.0, [None]),
    ]


def test_our_own_traces_and_scores_are_read(tmp_path: Path) -> None:
    traces, scores = tmp_path / "t.jsonl", tmp_path / "run-3.scores.jsonl"
    write_traces(traces, [Trace("a", "p", [Step("s")])])
    write_scores(scores, [TraceScore("a", [[0.5]], [0.5], [None], 0.5)])
    assert read_benchmark([traces]).traces == [Trace("a", "p", [Step("s")])]
    assert read_published(scores).keys() == {"run-3"}


def test_files_of_one_format_are_read_together_and_of_two_refused(tmp_path: Path) -> None:
    gsm8k, math = write(tmp_path / "a", PROCESSBENCH), write(tmp_path / "b", PROCESSBENCH | {"id": "math-1"})
    assert [trace.domain for trace in read_benchmark([gsm8k, math]).traces] == ["gsm8k", "math"]
    with pytest.raises(DataError, match=r"different formats .*a \(ProcessBench\), .*c \(best-of-N pool\)"):
        read_benchmark([gsm8k, write(tmp_path / "c", CANDIDATE)])
    with pytest.raises(DataError, match="b, line 1: the solution 'gsm8k-3' is already in the data"):
        read_benchmark([gsm8k, write(math, PROCESSBENCH)])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no records"),
        (b"hello\n", "Stepmark cannot read .*file. Use JSON Lines, a JSON array, CSV, Parquet"),
        (b'{"a": hello}\n', "line 1: JSON is malformed"),
        (b'{"a": 1}\n', "Choose the column that holds the problem. The columns are: a."),
        (b"[1, 2", "line 1: Expected an object, got a whole number"),
        (b'[{"a": 1', "line 1: the file ends in the middle of this record"),
        (b"\x1f\x8bnot gzip after all", "file"),
        (
            json.dumps(PROCESSBENCH | {"label": 2}).encode(),
            r"line 1, field `label`: Expected a step from 0 to 1, or -1 for no error, got 2",
        ),
        (
            json.dumps(PROCESSBENCH | {"steps": []}).encode(),
            "line 1, field `steps`: Expected at least one step, got none",
        ),
        (
            json.dumps(PROCESSBENCH | {"steps": [1]}).encode(),
            r"line 1, field `steps\[0\]`: Expected a text, got a whole number",
        ),
        (
            json.dumps(SAMPLES | {"pred": []}).encode(),
            "line 1: The lists differ in length: `code` has 2, `pred` 0, `score` 2, `pred_score` 2",
        ),
    ],
)
def test_bad_files_are_refused_in_one_sentence_that_names_the_place(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_benchmark([path])


def test_a_file_without_scores_has_none_to_give(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no scores: its format is ProcessBench"):
        read_published(write(tmp_path / "a", PROCESSBENCH))
    with pytest.raises(DataError, match="no scores"):
        read_published(write(tmp_path / "b", CANDIDATE | {"prm_step_scores": {}}))
    with pytest.raises(DataError, match="No such file"):
        read_published(tmp_path / "c")


def test_the_real_processbench_has_the_counts_of_its_authors() -> None:
    read = read_benchmark([real_data("processbench/gsm8k.json"), real_data("processbench/math.json")])
    wrong = {name: sum(t.first_error >= 0 for t in read.traces if t.domain == name) for name in ("gsm8k", "math")}
    assert (len(read.traces), wrong) == (1400, {"gsm8k": 207, "math": 594})
    assert msgspec.json.decode(msgspec.json.encode(read.traces[0]), type=Trace) == read.traces[0]
