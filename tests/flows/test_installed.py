"""Stepmark and its library as their wheels install them, in folders with nothing else than they declare."""

import json
import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path

import httpx2
import pytest
from packaging.requirements import Requirement

from config.env import BASE_DIR
from launch import frontend
from prm import __version__
from prm.__main__ import main
from prm.sandbox.world import WorldConfig, generate
from prm.traces import write_traces
from tests.processes import free_port, started_with
from tests.real_data import real_data
from tests.waiting import PATIENCE

STEPS = ["2 * 3 = 6.", "1 + 6 = 8.", "The answer is 8."]
# What the tests' own settings would change in the processes that a person starts.
OURS = ("DATABASE_URL", "REDIS_URL", "VAR_DIR", "DJANGO_SETTINGS_MODULE", "PYTHONPATH")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both wheels by the name of their distribution, as `make wheels` builds them."""
    folder = tmp_path_factory.mktemp("dist")
    frontend.build()
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), "./prm", "."]
    subprocess.run(build, cwd=BASE_DIR, check=True)
    return {wheel.name.split("-")[0]: wheel for wheel in folder.glob("*.whl")}


def install(environment: Path, *wheels: Path) -> Path:
    """Install the wheels into a new environment; returns its folder of commands.

    What they require, and what that requires, comes as links to the installed copies: torch would take minutes. What
    nothing requires is missing, as it would be for a person.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, *map(str, wheels)], check=True)
    [site] = (environment / "lib").glob("python*/site-packages")
    needed = [(wheel.name.split("-")[0], frozenset({""})) for wheel in wheels]
    for name, extras in needed:
        distribution = next(
            iter([*Distribution.discover(name=name, path=[str(site)]), *Distribution.discover(name=name)])
        )
        for file in distribution.files or []:
            copy = site / file.parts[0]
            if file.parts[0] not in ("..", "__pycache__") and not copy.exists():
                copy.symlink_to(Path(str(distribution.locate_file(file.parts[0]))).resolve())
        for requirement in map(Requirement, distribution.requires or []):
            if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
                wanted = requirement.name, frozenset({"", *requirement.extras})
                needed += [wanted] if wanted not in needed else []
    return environment / "bin"


def environment_of_a_person(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in OURS} | more


PAGE = BASE_DIR / "docs" / "guides" / "own-stack.md"
# The page's commands, then its example, in one process; then each layout in its own tool, and what the figures say.
AS_ON_THE_PAGE = """
import json, shlex, sys
from pathlib import Path
from prm.__main__ import main
commands, example = json.loads(sys.stdin.read())
for command in commands:
    assert main(shlex.split(command)) == 0, command
names = {}
exec(example, names)

import prm, torch, transformers
assert (Path(prm.__file__).parent / "py.typed").exists() and "site-packages" in prm.__file__
tools = {"exact": "AutoModelForCausalLM", "tokens": "AutoModelForTokenClassification", "reward": "AutoModel"}
for folder, tool in tools.items():
    _, report = getattr(transformers, tool).from_pretrained(f"exported/{folder}", output_loading_info=True)
    assert not report["missing_keys"], report
traces = list(prm.read_traces("processbench.json"))[:4]
means = [[s.mean for s in prm.Scorer.load(f"models/{f}").score(traces)] for f in ("second", "exact", "reward")]
assert all(torch.allclose(torch.tensor(a), torch.tensor(b), atol=1e-5) for a, b in zip(*means[:2], strict=True))
assert all(0 < p < 1 for own in means[2] for p in own)
print(prm.__version__)
"""


def test_the_page_on_the_library_runs_in_an_empty_environment(wheels: dict[str, Path], tmp_path: Path) -> None:
    prm = install(tmp_path / "environment", wheels["stepmark_prm"]) / "prm"
    labelled_files(tmp_path)
    shell, example, serving = re.findall(r"^```(?:sh|python)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    commands = [line.removeprefix("python -m prm ") for line in shell.splitlines() if "-m prm" in line]
    shown = subprocess.run(
        [prm.with_name("python"), "-c", AS_ON_THE_PAGE],
        cwd=tmp_path,
        env=environment_of_a_person(),
        input=json.dumps([commands, example]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    assert shown.splitlines()[-1] == __version__
    port = free_port()
    start, ask = serving.splitlines()
    command = start.removeprefix("python -m ").replace("8001", str(port)).split()
    with subprocess.Popen(
        [prm, *command[1:]], cwd=tmp_path, env=environment_of_a_person(), stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[0]
        [body] = re.findall("-d '(.*)'", ask)
        answer = httpx2.post(address, content=body, timeout=PATIENCE).json()
        server.terminate()
    [result] = answer["results"]
    assert [0 < step["mean"] < 1 for step in result["steps"]] == [True, True]
    assert 0 < result["score"] < 1


def labelled_files(folder: Path) -> None:
    """A few lines of PRM800K and ProcessBench: real ones where there are some, and else invented ones."""
    try:
        rated = real_data("prm800k/prm800k_real_records.jsonl").read_bytes().splitlines(keepends=True)[:4]
        (folder / "prm800k.jsonl").write_bytes(b"".join(rated))
        measured = json.loads(real_data("processbench/gsm8k.json").read_bytes())[:20]
        (folder / "processbench.json").write_text(json.dumps(measured))
    except pytest.skip.Exception:
        invented = [trace for trace in generate(WorldConfig(), split="pool", n=120) if trace.first_error is not None]
        for name, traces in {"prm800k.jsonl": invented[:60], "processbench.json": invented[60:]}.items():
            write_traces(folder / "invented", traces)
            form = name.partition(".")[0]
            assert main(["convert", "--data", f"{folder}/invented", "--to", form, "--out", f"{folder}/{name}"]) == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder to start Stepmark in. The demo project has a test of its own; here it was made earlier."""
    folder = tmp_path / "labels"
    (folder / "var").mkdir(parents=True)
    (folder / "var" / "demo_accounts.txt").write_text("Sign in as ada.\n")
    return folder


@pytest.fixture
def stepmark(wheels: dict[str, Path], tmp_path: Path) -> str:
    return str(install(tmp_path / "environment", *wheels.values()) / "stepmark")


@pytest.fixture
def address(stepmark: str, folder: Path) -> Iterator[str]:
    """Where `stepmark run` answers, with its port from the folder's `.env`."""
    port = free_port()
    (folder / ".env").write_text(f"PORT={port}\n")
    with subprocess.Popen(
        [stepmark, "run"], cwd=folder, env=environment_of_a_person(), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = ""
        while "Ctrl-C" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        yield f"http://127.0.0.1:{port}"
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert f"http://127.0.0.1:{port}/" in said
    assert process.returncode == 0
    assert started_with(folder / "var") == []


def test_the_platform_starts_in_an_empty_folder_and_a_step_is_labelled(
    stepmark: str, folder: Path, address: str
) -> None:
    def manage(*arguments: str) -> None:
        environment = environment_of_a_person(DJANGO_SUPERUSER_PASSWORD="a word for ada")
        subprocess.run([stepmark, "manage", *arguments], cwd=folder, env=environment, check=True)

    program = "import sys, stepmark; stepmark.Client; assert not {'annotation', 'django'} & set(sys.modules)"
    python = Path(stepmark).with_name("python")
    subprocess.run([python, "-c", program], cwd=folder, env=environment_of_a_person(), check=True)
    manage("createsuperuser", "--no-input", "--username", "ada", "--email", "ada@example.org")
    with httpx2.Client(base_url=address, follow_redirects=True, timeout=PATIENCE) as client:

        def post(path: str, body: dict[str, object]) -> dict[str, object]:
            headers = {"X-CSRFToken": client.cookies["csrftoken"]}
            answer = client.post(f"/api/v1/projects/{path}", json=body, headers=headers)
            assert answer.is_success, answer.text
            return dict(answer.json())

        client.get("/")
        form = {"login": "ada", "password": "a word for ada", "csrfmiddlewaretoken": client.cookies["csrftoken"]}
        page = client.post("/accounts/login/", data=form)
        assert "ada" in page.text
        post("", {"slug": "sums", "name": "Sums"})
        (folder / "sums.jsonl").write_text(json.dumps(solution(1)) + "\n")
        manage("import_solutions", "sums.jsonl", "--project", "sums")
        post("sums/generations/", {})
        workbench = client.get("/p/sums/label/")
        [script] = [
            part.split('"')[0] for part in workbench.text.split('src="') if "dist/assets/" in part.split('"')[0]
        ]
        assert client.get(script).is_success
        task = post("sums/claim/", {"holding": []})["task"]
        label = post("sums/annotations/", first_step_is_wrong(task))
    assert label["first_error"] == 0
    assert sorted(path.name for path in folder.iterdir()) == [".env", "sums.jsonl", "var"]


def solution(number: int) -> dict[str, object]:
    """A labelled solution as both the library and the platform read it."""
    split = "calibration" if number % 4 == 3 else "pool"
    steps = [{"text": text} for text in STEPS]
    problem = {"id": f"s{number}", "problem_id": f"p{number}", "problem": f"What is {number} + 2 * 3?"}
    return problem | {"steps": steps, "first_error": number % 3 - 1, "split": split, "source_group": f"g{number}"}


def first_step_is_wrong(task: dict) -> dict[str, object]:
    """A submission of the task, as the workbench makes it, that rates the first step -1."""
    first, *_ = task["solution"]["steps"]
    step = first["alternatives"][0]["id"]
    rated = {"step": step, "state": "rated", "rating": -1}
    at = {"position": first["position"], "chosen": None, "own_text": None, "dwell_ms": 900, "ratings": [rated]}
    return {
        "submission_id": str(uuid.uuid4()),
        "solution": task["solution"]["id"],
        "lease": task["lease"]["id"],
        "finish_reason": "found_error",
        "total_ms": 900,
        "path": [at],
    }
