"""Every command in the documentation: the library's run, on smaller data; the platform's are understood."""

import argparse
import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands, load_command_class
from torch.distributed.run import get_args_parser

from config.settings.base import BASE_DIR
from prm.__main__ import main, make_parser
from prm.config import TrainConfig
from prm.sandbox.world import WorldConfig, generate
from prm.traces import write_traces
from prm.training import train
from tests.rounds_world import QUICK

PAGES = sorted([*(BASE_DIR / "docs").rglob("*.md"), *BASE_DIR.glob("*.md")])
LIBRARY = re.compile(r"(?:\.venv/bin/)?python -m prm (?!backbone )(.*)|(echo .*)")
PLATFORM = re.compile(r"(?:\.venv/bin/)?python manage\.py (\w+) ?(.*)")
BENCHMARK = re.compile(r"(?:\.venv/bin/)?python (-m |)(benchmarks[./]\S+) ?(.*)")
# test_guide.py and test_installed.py run all of them.
GUIDES = [BASE_DIR / "docs" / "reference" / "scoring.md", BASE_DIR / "docs" / "guides" / "own-stack.md"]
# test_launch.py, test_installed.py, test_backup.py and test_serving.py run them.
ELSEWHERE = re.compile(r"(curl|make|stepmark|pip install|\"\$BIN|tar|mkdir|VAR=|BIN=|\. \"|until|kill|.*-m launch|  )")
# They need several machines, a Docker engine or a download.
NOT_HERE = re.compile(r"(accelerate launch|docker compose|python -m prm backbone )")
FILES = {
    "MODEL": "models/first",
    "DIR": "models/first",
    "FILE": "holdout.jsonl",
    "TRACES.jsonl": "holdout.jsonl",
    "TRAINING.jsonl": "labelled.jsonl",
    "pool.jsonl": "labelled.jsonl",
    "problems.jsonl": "holdout.jsonl",
    "gsm8k.json": "labelled.jsonl",
    "math.json": "every-split.jsonl",
    "gsm8k": "labelled",
    "math": "every-split",
    "backbones/smollm2": "tiny",
}
AT_MOST = {"--problems": 4, "--samples": 4, "--solutions": 3, "--continuations": 1}
QUICKER = {
    "train": "--config quick.json",
    "simulate": "--config quick.json --functions random --seeds 1 --budgets 8,12 --candidates 20 --bootstrap 20",
    "reproduce": "--functions random --seeds 1 --epochs 1 --bootstrap 20",
    "audit": "--bootstrap 20 --limit 8",
}


def lines_of(page: Path) -> Iterator[str]:
    """The commands in a page, each with the lines that continue it and without its comment."""
    for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", "").splitlines():
            yield re.sub(r"\s+#.*", "", line)


def commands(pattern: re.Pattern[str]) -> list[tuple[str, ...]]:
    return sorted({match.groups() for page in PAGES for line in lines_of(page) if (match := pattern.match(line))})


def test_every_command_is_of_a_known_kind() -> None:
    kinds = (LIBRARY, PLATFORM, BENCHMARK, ELSEWHERE, NOT_HERE)
    unknown = [line for page in PAGES for line in lines_of(page) if not any(kind.match(line) for kind in kinds)]
    assert unknown == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files and the models that the commands name."""
    folder = tmp_path_factory.mktemp("documented")
    (folder / "var").mkdir()
    sizes = {"pool": 60, "calibration": 40, "holdout": 40}
    labelled = [trace for split, n in sizes.items() for trace in generate(WorldConfig(), split=split, n=n)]
    write_traces(folder / "every-split.jsonl", labelled)
    write_traces(folder / "labelled.jsonl", labelled[: -sizes["holdout"]])
    write_traces(folder / "holdout.jsonl", labelled[-16:])
    (folder / "var" / "train.jsonl").write_bytes((folder / "labelled.jsonl").read_bytes())
    (folder / "quick.json").write_text(json.dumps(QUICK))
    model, config = folder / "models/first", TrainConfig(**QUICK)
    train(data=folder / "labelled.jsonl", out=model, config=config, report=lambda _: None)
    shutil.copytree(model, folder / "var/model")
    return folder


WITH_COMMANDS = [page for page in PAGES if page not in GUIDES and any(map(LIBRARY.match, lines_of(page)))]


@pytest.mark.parametrize("guide", WITH_COMMANDS, ids=lambda guide: guide.stem)
def test_the_commands_of_the_library_run(
    guide: Path, folder: Path, policy_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for line in lines_of(guide):
        command, shell = match.groups() if (match := LIBRARY.match(line)) else ("", "")
        if shell:
            subprocess.run(shell, shell=True, check=True)
        elif command:
            assert main(smaller(re.sub(r"[][]", "", command), policy_url)) == 0, line


def smaller(command: str, policy_url: str) -> list[str]:
    """The arguments with existing files and less work."""
    words = [FILES.get(word, word) for word in shlex.split(command)]
    given = dict(pairwise(words))
    for option, most in AT_MOST.items():
        if given.get(option, "").isdigit():
            words[words.index(option) + 1] = str(min(int(given[option]), most))
    for option, value in {"--endpoint": policy_url, "--model": "sandbox-medium"}.items():
        if option in given and (option != "--model" or "--endpoint" in given) and given[option] not in FILES.values():
            words[words.index(option) + 1] = value
    if words[0] == "simulate":  # of two, one in processes of its own
        words += ["--processes", "1"] if "--data" in given else ["--world", "sandbox", "--sizes", "60,40,40"]
    if "--config" in given:
        config = Path(given["--config"])
        config.write_text(json.dumps(json.loads(config.read_text()) | QUICK))
        return words
    return [*words, *QUICKER.get(words[0], "").split()]


def test_the_launchers_run_a_command_that_the_library_understands(monkeypatch: pytest.MonkeyPatch) -> None:
    torchrun, _bucket, slurm, job, sky = re.findall(  # test_training_on_two_machines.py runs the second
        r"^```(?:bash|yaml)\n(.*?)^```", GUIDES[1].read_text(), re.MULTILINE | re.DOTALL
    )
    [container] = yaml.safe_load(job)["spec"]["template"]["spec"]["containers"]
    learned = [container["command"][1:]]
    numbers = {"$SLURM_JOB_NUM_NODES": "2", "$SKYPILOT_NUM_NODES": "2", "$SKYPILOT_NODE_RANK": "1"}
    for script in (torchrun, slurm, yaml.safe_load(sky)["run"]):
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        line = script.replace("\\\n", "").splitlines()[-1].removeprefix("srun ")
        words = [numbers.get(word, word) for word in shlex.split(line)]
        launched = get_args_parser().parse_args(words[1:])
        assert (launched.module, launched.training_script, launched.nnodes) == (True, "prm", "2")
        learned.append(launched.training_script_args)
    monkeypatch.setattr("prm.commands.train.data_file", Path)
    monkeypatch.setattr("prm.commands.train.input_file", Path)
    for arguments in learned:
        options = make_parser().parse_args(arguments)
        assert (options.data, options.out) == (Path("/shared/labelled.jsonl"), Path("/shared/models/first"))


@pytest.mark.parametrize(("name", "arguments"), commands(PLATFORM))
def test_the_platform_understands_its_commands(name: str, arguments: str) -> None:
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    words = shlex.split(re.sub(r"[][]", "", arguments))
    if "--help" not in words:
        assert parser.parse_args(words)


@pytest.mark.parametrize(("module", "name", "arguments"), commands(BENCHMARK))
def test_the_benchmarks_understand_their_commands(
    module: str, name: str, arguments: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = argparse.ArgumentParser.parse_args

    def only_parse(parser: argparse.ArgumentParser) -> None:
        parse(parser, shlex.split(arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", only_parse)
    monkeypatch.setattr(sys, "argv", [name, *shlex.split(arguments)])
    monkeypatch.chdir(BASE_DIR)
    with pytest.raises(KeyboardInterrupt):
        runpy.run_module(name, run_name="__main__") if module else runpy.run_path(name, run_name="__main__")
