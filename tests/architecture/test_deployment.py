"""What is installed and deployed: pinned, complete, without secrets of its own."""

import json
import re

import pytest
import yaml

from config.env import BASE_DIR

COMPOSE = yaml.safe_load((BASE_DIR / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
RUNNING = {"web", "worker", "gpu-worker", "score-worker", "beat", "postgres", "redis"}


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt", "requirements-node.txt"])
def test_requirements_are_pinned(name):
    lines = [line.split("#")[0].strip() for line in (BASE_DIR / name).read_text().splitlines()]
    loose = [line for line in lines if line and not line.startswith("-r ") and "==" not in line]
    assert loose == []


def test_front_end_lock_names_no_registry():
    lock = json.loads((BASE_DIR / "labelling_ui/frontend/package-lock.json").read_text())
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []


def test_compose_has_every_part_with_a_health_check():
    assert set(SERVICES) == RUNNING | {"migrate"}
    assert {name for name in RUNNING if "healthcheck" not in SERVICES[name]} == set()


def test_compose_reserves_the_gpu_for_training_only():
    with_gpu = {name for name, service in SERVICES.items() if "deploy" in service}
    assert with_gpu == {"gpu-worker"}
    [device] = SERVICES["gpu-worker"]["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]


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
    assert set(COMPOSE["volumes"]) == {"data", "postgres", "redis"}
    assert "C.UTF-8" in SERVICES["postgres"]["environment"]["POSTGRES_INITDB_ARGS"]
    assert SERVICES["web"]["volumes"] == ["data:/data"] == SERVICES["gpu-worker"]["volumes"]


def test_image_uses_the_same_requirements():
    assert (
        "pip install --no-cache-dir --disable-pip-version-check -r requirements.txt"
        in (BASE_DIR / "Dockerfile").read_text()
    )


def test_example_environment_names_what_compose_asks_for():
    asked = set(re.findall(r"\$\{(\w+)", (BASE_DIR / "docker-compose.yml").read_text())) - {"STEPMARK_VERSION"}
    named = set(re.findall(r"^#?([A-Z_]+)=", (BASE_DIR / ".env.example").read_text(), re.MULTILINE))
    assert asked <= named
