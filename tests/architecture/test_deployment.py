"""What is installed and deployed: pinned, complete, without secrets of its own."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from itertools import chain

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from psycopg.pq import Conninfo

import prm
from config.env import BASE_DIR, databases
from launch.bootstrap import read_requirements
from launch.devices import PER_TRAINING, SLOTS

COMPOSE = yaml.safe_load((BASE_DIR / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
GPU_SERVICES = yaml.safe_load((BASE_DIR / "docker-compose.gpu.yml").read_text())["services"]
APPLICATION = {"migrate", "web", "worker", "gpu-worker", "score-worker", "beat"}
SERVERS = {"postgres", "valkey"}
RUNNING = APPLICATION - {"migrate"} | SERVERS

# What one process sets for another: nobody chooses it.
BETWEEN_PROCESSES = {
    "AWAITED_WORKERS", "DATABASE_POOL", "PREPARED_FILE", "PROMETHEUS_MULTIPROC_DIR", "READY_FILE", "STEPMARK_HOME"
}  # fmt: skip
ONLY_WITHOUT_CONTAINERS = {"HOST", "PORT", "DEBUG"}
# What compose, libraries or gunicorn read.
READ_ELSEWHERE = {"DJANGO_SETTINGS_MODULE", "PGPASSWORD", "WEB_CONCURRENCY"}


LIBRARY = ("prm",)
PLATFORM = ("annotation", "config", "labelling_ui", "launch", "stepmark")


def read_lines(path):
    """The lines of a file of requirements, without its comments."""
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    return [line for line in lines if line]


def imports_of(path):
    """The names of the packages that a module imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        yield from (name.split(".")[0] for name in names)


def names_in_example() -> set[str]:
    """The settings that .env.example names."""
    return set(re.findall(r"^#?([A-Z_]+)=", (BASE_DIR / ".env.example").read_text(), re.MULTILINE))


def names_read() -> set[str]:
    """The settings that the application and its launcher read from the environment."""
    sources = [*(BASE_DIR / "config").rglob("*.py"), *(BASE_DIR / "launch").glob("*.py")]
    text = "\n".join(path.read_text() for path in sources)
    return (
        set(re.findall(r'\benv\.\w+\(\s*"([A-Z_]+)"', text))
        | set(re.findall(r'_address\("([A-Z_]+)"', text))
        | {SLOTS, PER_TRAINING}
    )


def names_substituted() -> set[str]:
    """What the compose files take from .env by `${NAME}`, before any container."""
    return set(re.findall(r"(?<!\$)\$\{(\w+)", (BASE_DIR / "docker-compose.yml").read_text()))


def test_every_requirement_has_a_locked_version():
    locked = {canonicalize_name(Requirement(line).name) for line in read_lines(BASE_DIR / "requirements.txt")}
    required = [Requirement(line) for line in read_requirements(["gpu", "s3", "dev"])]
    assert {canonicalize_name(requirement.name) for requirement in required} - locked == set()
    assert all(
        "==" in line for name in ("requirements.txt", "requirements-node.txt") for line in read_lines(BASE_DIR / name)
    )


def test_the_environment_has_the_locked_versions():
    for requirement in map(Requirement, read_lines(BASE_DIR / "requirements.txt")):
        with suppress(PackageNotFoundError):
            installed = version(requirement.name)
            if requirement.marker is None or requirement.marker.evaluate():
                assert requirement.specifier.contains(installed), f"{requirement} is locked; {installed} is installed"


@pytest.mark.parametrize(("packages", "folders"), [(LIBRARY, ["prm"]), (PLATFORM, ["prm", "."])])
def test_what_is_imported_is_required(packages, folders):
    """A package that comes along with another one today may not tomorrow."""
    projects = [tomllib.loads((BASE_DIR / folder / "pyproject.toml").read_text())["project"] for folder in folders]
    lines = [line for project in projects for line in project["dependencies"]]
    extras = [project["optional-dependencies"].get(extra, []) for project in projects for extra in ("gpu", "hub")]
    lines += chain.from_iterable(extras)
    required = {canonicalize_name(Requirement(line).name) for line in lines}
    distributions = packages_distributions()
    modules = [path for package in packages for path in (BASE_DIR / package).rglob("*.py")]
    imported = {name for path in modules if "node_modules" not in path.parts for name in imports_of(path)}
    loaders = {"vllm"}  # it imports prm.portable.vllm_model, never the reverse
    foreign = imported - set(sys.stdlib_module_names) - set(LIBRARY) - set(PLATFORM) - loaders
    assert {"msgspec", "numpy"} <= foreign
    assert [name for name in foreign if not {canonicalize_name(d) for d in distributions[name]} & required] == []


def test_both_distributions_and_the_changelog_have_one_version():
    platform, library = (
        tomllib.loads((BASE_DIR / folder / "pyproject.toml").read_text())["project"] for folder in (".", "prm")
    )
    number = platform["version"]
    assert "version" in library["dynamic"]
    assert prm.__version__ == number
    assert f"stepmark-prm=={number}" in platform["dependencies"]
    assert platform["optional-dependencies"]["gpu"] == [f"stepmark-prm[gpu]=={number}"]
    assert re.search(r"^## (\S+)", (BASE_DIR / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == number


def test_front_end_lock_names_no_registry():
    lock = json.loads((BASE_DIR / "labelling_ui/frontend/package-lock.json").read_text())
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []


def test_compose_has_every_part_with_a_health_check():
    assert set(SERVICES) == RUNNING | {"migrate"}
    assert {name for name in RUNNING if "healthcheck" not in SERVICES[name]} == set()


def test_compose_needs_no_gpu_and_its_override_gives_them_to_all_that_use_models():
    assert "devices" not in str(COMPOSE)
    assert set(GPU_SERVICES) == {"gpu-worker", "score-worker"}
    for service in GPU_SERVICES.values():
        [device] = service["deploy"]["resources"]["reservations"]["devices"]
        assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_containers_are_confined(name):
    service = SERVICES[name]
    assert service["init"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert ("cap_add" in service) == (name in SERVERS)


@pytest.mark.parametrize("name", sorted(RUNNING))
def test_containers_have_limits(name):
    assert SERVICES[name]["deploy"]["resources"]["limits"].keys() == {"memory", "pids"}


@pytest.mark.parametrize("name", ["web", "worker", "gpu-worker", "score-worker", "postgres"])
def test_shared_memory_is_more_than_docker_gives(name):
    assert SERVICES[name]["shm_size"] in ("256m", "1g", "2g")


def test_compose_has_no_secret_of_its_own():
    """Each secret comes from the environment, and its absence stops the start."""
    text = (BASE_DIR / "docker-compose.yml").read_text()
    for name in ("SECRET_KEY", "POSTGRES_PASSWORD", "ALLOWED_HOSTS"):
        uses = re.findall(rf"\$\{{{name}[^}}]*\}}", text)
        assert uses
        assert all(use.startswith(f"${{{name}:?") for use in uses)


def test_compose_queues_are_those_of_the_application(settings):
    served = {
        re.search(r"(?:--queues|launch worker) (\w+)", str(service.get("command"))) for service in SERVICES.values()
    } - {None}
    assert {match[1] for match in served} == {queue.name for queue in settings.CELERY_TASK_QUEUES}


def test_compose_keeps_data_in_volumes_and_the_locale_of_the_embedded_server():
    assert set(COMPOSE["volumes"]) == {"data", "cache", "postgres", "valkey"}
    assert "C.UTF-8" in SERVICES["postgres"]["environment"]["POSTGRES_INITDB_ARGS"]
    assert all(SERVICES[name]["volumes"] == ["data:/data", "cache:/cache"] for name in APPLICATION)


def test_image_keeps_what_libraries_fetch_on_a_volume():
    dockerfile = (BASE_DIR / "Dockerfile").read_text()
    assert "--create-home --home-dir /home/stepmark" in dockerfile
    for name in ("XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        assert re.search(rf"\b{name}=/cache\b", dockerfile)
    assert re.search(r"install --directory --owner=stepmark .*/cache", dockerfile)


def test_the_password_of_the_database_may_hold_any_character(monkeypatch):
    """It travels beside the address, in which some characters would end it."""
    passed = SERVICES["web"]["environment"]
    assert "$" not in passed["DATABASE_URL"]
    assert passed["PGPASSWORD"].startswith("${POSTGRES_PASSWORD:?")
    monkeypatch.setenv("DATABASE_URL", passed["DATABASE_URL"])
    monkeypatch.setenv("PGPASSWORD", "a/b@c:d?e#f%g")
    assert databases()["default"]["PASSWORD"] == ""  # psycopg then takes PGPASSWORD
    defaults = {option.keyword: option.val for option in Conninfo.get_defaults()}
    assert defaults[b"password"] == b"a/b@c:d?e#f%g"


def test_the_broker_is_free_software():
    assert SERVICES["valkey"]["image"].startswith("valkey/valkey:")


def test_image_uses_the_same_requirements():
    image = (BASE_DIR / "Dockerfile").read_text()
    extras = re.search(r"bootstrap.py --list (.*) \\", image)[1]
    assert f"EXTRAS := {extras}\n" in (BASE_DIR / "Makefile").read_text()
    assert "--constraint requirements.txt --requirement /dev/stdin" in image


def test_image_and_compose_serve_the_web_as_make_run_does():
    assert "--config=python:config.gunicorn" in (BASE_DIR / "Dockerfile").read_text()
    assert "command" not in SERVICES["web"]


def test_every_setting_that_is_read_is_in_the_example():
    assert names_read() - BETWEEN_PROCESSES - {"DEBUG"} - names_in_example() == set()


def test_every_setting_in_the_example_is_read_by_something():
    for_compose = {"COMPOSE_FILE"} | names_substituted()
    assert names_in_example() - names_read() - for_compose == set()


def test_everything_compose_substitutes_is_in_the_example():
    assert names_substituted() - names_in_example() == set()


@pytest.mark.parametrize("name", sorted(APPLICATION))
def test_every_setting_reaches_every_container(name):
    passed = set(SERVICES[name]["environment"])
    assert names_read() - BETWEEN_PROCESSES - ONLY_WITHOUT_CONTAINERS - passed == set()
    assert passed - names_read() - BETWEEN_PROCESSES - READ_ELSEWHERE == set()


@pytest.mark.parametrize("name", sorted(APPLICATION))
def test_compose_repeats_no_default_of_the_application(name):
    """A name without a value is left out where .env does not set it, so that the default has one home."""
    given = {key for key, value in SERVICES[name]["environment"].items() if value is not None}
    own = {"SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL", "REDIS_URL", "VAR_DIR", "LOG_JSON"}
    assert given - BETWEEN_PROCESSES - READ_ELSEWHERE == own


@pytest.mark.parametrize("files", [["docker-compose.yml"], ["docker-compose.yml", "docker-compose.gpu.yml"]])
def test_docker_compose_accepts_the_files(files):
    command = ["docker", "compose", "--env-file", "/dev/null", *(f"--file={name}" for name in files)]
    if not shutil.which("docker") or subprocess.run(["docker", "compose", "version"], capture_output=True).returncode:
        pytest.skip("The compose plugin is not installed here")
    secrets = {"SECRET_KEY": "x" * 50, "POSTGRES_PASSWORD": "x", "ALLOWED_HOSTS": "x"}
    outcome = subprocess.run(
        [*command, "config", "--quiet"], cwd=BASE_DIR, env=os.environ | secrets, capture_output=True, text=True
    )
    assert outcome.returncode == 0, outcome.stderr
