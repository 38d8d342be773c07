"""Each export is opened by the tool that it is for: the datasets library, TRL's trainers, OpenRLHF's data set."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import datasets
import pytest
from pyarrow import parquet

from prm.exporters import EXPORTERS
from prm.formats.path import first_error
from prm.formats.record import Completion, PathPosition, Rating, Record, RecordAnnotation

ROOT = Path(__file__).parents[4]
TOOLS = Path(os.environ.get("STEPMARK_LOADERS", ROOT / "var" / "loaders"))
SPLITS = ("pool", "holdout", "calibration", "pool")
LABELLED = {
    "processbench": {"steps", "label"},
    "prmbench": {"modified_process", "error_steps"},
    "trl": {"prompt", "completions", "labels"},
    "trl_parquet": {"prompt", "completions", "labels"},
    "math_shepherd": {"input", "label"},
    "openrlhf": {"input", "value"},
    "rlhflow": {"conversations"},
    "mr_ben": {"Model_Solution_Steps", "Model_Solution_First_Error_Step"},
    "big_bench_mistake": {"steps", "mistake_index"},
    "prm800k": {"question", "label", "source_kind", "split"},
    "csv": {"steps", "ratings", "source_kind", "split"},
    "parquet": {"steps", "ratings", "source_kind", "split"},
    "records": {"problem", "positions", "annotations", "split"},
    "plain": {"problem", "steps"},
    "best_of_n": {"problem", "steps", "is_correct"},
    "messages": {"messages", "step_labels"},
    "who_and_when": {"history", "mistake_step"},
}


def corrected(number: int, split: str) -> Record:
    """A solution whose second step is bad, with a good alternative and an annotator's own step."""
    path = [
        PathPosition(0, chosen=0, ratings=[Rating(0, "rated", rating=1)]),
        PathPosition(1, own_text="two", ratings=[Rating(0, "rated", rating=-1), Rating(1, "rated", rating=1)]),
    ]
    label = RecordAnnotation("human", "found_error", path, annotator="a", first_error=first_error("found_error", path))
    return Record(
        problem=f"what is one plus {number}",
        positions=[[Completion("count up")], [Completion("nine"), Completion("ten")]],
        split=split,
        generator="m",
        reference_answer="2",
        final_answer="9",
        final_answer_correct=False,
        extra={"messages": [{"role": "user", "content": "q"}, *[{"role": "assistant", "content": "a"}] * 2],
               "question": "q", "history": [{"content": "a"}] * 2},
        annotations=[label],
    )  # fmt: skip


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    """A folder with a file of each format."""
    records = [corrected(number, split) for number, split in enumerate(SPLITS)]
    for name in EXPORTERS:
        exporter = EXPORTERS.get(name)
        content = b"".join(exporter.write(records, card=lambda: "# A card\n"))
        (tmp_path / f"{name}.{exporter.suffix}").write_bytes(content)
    return tmp_path


def load(exports: Path, name: str) -> Any:
    suffix = EXPORTERS.get(name).suffix
    builder = "json" if suffix == "jsonl" else suffix
    file = str(exports / f"{name}.{suffix}")
    return datasets.load_dataset(builder, data_files=file, cache_dir=str(exports / "cache"), split="train")


def test_every_format_is_opened_or_copies_the_file_of_an_agent() -> None:
    apart = {"preference", "sft", "huggingface", "atif", "swe_agent", "tau_bench"}
    assert set(EXPORTERS) == {*LABELLED, *apart}


@pytest.mark.parametrize("name", LABELLED)
def test_the_datasets_library_opens_a_file(exports: Path, name: str) -> None:
    rows = load(exports, name)
    assert len(rows) == len(SPLITS)
    assert set(rows.column_names) >= LABELLED[name]


def test_the_first_error_is_where_each_benchmark_expects_it(exports: Path) -> None:
    assert load(exports, "processbench")[0]["label"] == 1
    assert load(exports, "big_bench_mistake")[0]["mistake_index"] == 1
    assert load(exports, "mr_ben")[0]["Model_Solution_First_Error_Step"] == "2"
    assert load(exports, "prmbench")[0]["error_steps"] == [2]
    assert load(exports, "math_shepherd")[0]["label"] == "what is one plus 0 Step 1: count up +\nStep 2: nine -"
    assert load(exports, "openrlhf")[0] == {
        "input": "what is one plus 0 Step 1: count up ки\nStep 2: nine ки",
        "value": ["+", "-"],
    }
    assert [turn["content"] for turn in load(exports, "rlhflow")[0]["conversations"]][1::2] == ["+", "-"]


def test_pairs_and_corrected_solutions_are_opened(exports: Path) -> None:
    prompt = "what is one plus 0\n\ncount up\n\n"
    assert load(exports, "preference")[:2] == {
        "prompt": [prompt, prompt],
        "chosen": ["ten", "two"],
        "rejected": ["nine", "nine"],
    }
    answers = [row["messages"][1]["content"] for row in load(exports, "sft")]
    assert answers[:2] == ["count up\n\nten", "count up\n\ntwo"]


def test_the_datasets_library_opens_the_folder_with_its_splits(exports: Path) -> None:
    folder = exports / "folder"
    with zipfile.ZipFile(exports / "huggingface.zip") as archive:
        archive.extractall(folder)
    loaded = datasets.load_dataset(str(folder), cache_dir=str(exports / "cache"))
    assert {name: len(rows) for name, rows in loaded.items()} == {"train": 2, "validation": 1, "test": 1}
    assert loaded["test"][0]["split"] == "holdout"
    assert loaded["test"][0]["ratings"] == [1, -1]
    assert (folder / "README.md").read_text().endswith("---\n\n# A card\n")


def test_the_header_of_a_card_is_kept(exports: Path) -> None:
    content = b"".join(EXPORTERS.get("huggingface").write([corrected(0, "pool")], card=lambda: "---\na: 1\n---\n# C"))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        card = archive.read("README.md").decode()
    assert card.startswith("---\nconfigs:\n")
    assert card.endswith("path: data/train.parquet\na: 1\n---\n# C")


@pytest.mark.parametrize("name", ["parquet", "trl_parquet"])
def test_a_parquet_file_names_its_writer(exports: Path, name: str) -> None:
    metadata = parquet.read_schema(exports / f"{name}.parquet").metadata
    assert metadata[b"stepmark_writer"] == name.encode()
    assert metadata[b"stepmark_writer_version"] == EXPORTERS.get(name).version.encode()


def test_trainers_of_trl_and_openrlhf_train_on_their_files(exports: Path) -> None:
    if not (TOOLS / "trl").exists():
        pytest.skip(f"TRL and OpenRLHF are not in {TOOLS}: see tests/loaders/requirements.txt")
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(exports / "cache"), "TRL_EXPERIMENTAL_SILENCE": "1"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "loaders" / "open_exports.py"), str(exports)],
        env={**os.environ, **quiet, "PYTHONPATH": str(TOOLS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "trl": {"rows": 4, "steps": 1},
        "trl_parquet": {"rows": 4, "steps": 1},
        "preference": {"rows": 8, "steps": 1},
        "sft": {"rows": 8, "steps": 1},
        "openrlhf": ["+ -"] * 4,
    }
