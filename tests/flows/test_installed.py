"""Stepmark and its library as their wheels install them, in folders with nothing else than they declare."""

import json
import os
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
from tests.processes import free_port, started_with
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


def test_the_library_alone_trains_and_scores(wheels: dict[str, Path], tmp_path: Path) -> None:
    prm = str(install(tmp_path / "environment", wheels["stepmark_prm"]) / "prm")
    data = tmp_path / "labelled.jsonl"
    data.write_text("".join(json.dumps(solution(number)) + "\n" for number in range(8)))
    for command in (
        ["train", "--data", "labelled.jsonl", "--out", "model"],
        ["score", "--model", "model", "--data", "labelled.jsonl", "--out", "scores.jsonl"],
    ):
        subprocess.run([prm, *command], cwd=tmp_path, env=environment_of_a_person(), check=True)
    typed = (
        "import prm, pathlib; assert (pathlib.Path(prm.__file__).parent / 'py.typed').exists(); print(prm.__version__)"
    )
    shown = subprocess.check_output(
        [Path(prm).parent / "python", "-c", typed], cwd=tmp_path, env=environment_of_a_person()
    )
    assert shown.decode().strip() == __version__
    scores = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert [len(score["heads"]) for score in scores] == [len(STEPS)] * 8


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
