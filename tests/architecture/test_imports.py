"""The import rules of pyproject.toml hold, and the web application stays free of the model's libraries."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from config.env import BASE_DIR

PACKAGES = ("annotation", "config", "labelling_ui", "prm")


def test_import_contracts():
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    outcome = subprocess.run(command, cwd=BASE_DIR, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_web_application_does_not_import_the_model():
    """Every page and API module is loaded with the URL patterns; jobs are enqueued from them too.

    Arrow takes 37 MB in each process, and only reads and writes Parquet.
    """
    program = (
        "import gc, sys, config.wsgi, annotation.tasks\n"
        "assert gc.isenabled()\n"
        "from django.urls import get_resolver\n"
        "get_resolver().reverse_dict\n"
        "print(*sorted({'torch', 'transformers', 'peft', 'safetensors', 'pyarrow'} & set(sys.modules)))"
    )
    outcome = subprocess.run([sys.executable, "-c", program], cwd=BASE_DIR, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.strip() == ""


def test_a_worker_imports_no_page_and_no_resource():
    """Four Celery processes start beside the web; each would import all of it for Django's checks."""
    program = (
        "import gc, sys\n"
        "from config.celery import app\n"
        "assert not gc.isenabled()\n"
        "app.loader.import_default_modules()\n"
        "assert gc.isenabled()\n"
        "print(*sorted({'annotation.api.urls', 'labelling_ui.urls', 'torch', 'pyarrow'} & set(sys.modules)))"
    )
    outcome = subprocess.run([sys.executable, "-c", program], cwd=BASE_DIR, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.strip() == ""


def test_what_the_application_imports_of_prm_needs_no_torch():
    """The gateway is the only door to the modules that do."""
    modules = {
        node.module
        for package in ("annotation", "labelling_ui", "config")
        for path in (BASE_DIR / package).rglob("*.py")
        if not path.is_relative_to(BASE_DIR / "annotation/loop/gateway")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "prm"
    }
    assert {"prm.formats.record", "prm.formats.registry", "prm.messages", "prm.splitting"} <= modules
    program = (
        f"import sys, {', '.join(sorted(modules))}\n"
        "print(*sorted({'torch', 'transformers', 'peft', 'safetensors'} & set(sys.modules)))"
    )
    outcome = subprocess.run([sys.executable, "-c", program], cwd=BASE_DIR, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.strip() == ""


MEASURED = sorted(path for folder in ("benchmarks", "research") for path in (BASE_DIR / folder).rglob("*.py"))


@pytest.mark.parametrize("path", MEASURED, ids=lambda path: path.stem)
def test_a_benchmark_names_only_what_there_is(path):
    """They are run seldom, so what they import is looked up here, without running them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] in (*PACKAGES, "benchmarks", "research")
        ):
            module = importlib.import_module(node.module)
            for name in node.names:
                found = hasattr(module, name.name) or importlib.util.find_spec(f"{node.module}.{name.name}")
                assert found, f"{node.module} has no {name.name}"


def test_environment_is_read_in_one_place():
    readers = {
        str(path.relative_to(BASE_DIR))
        for package in PACKAGES
        for path in (BASE_DIR / package).rglob("*.py")
        if any(reading in path.read_text() for reading in ("os.environ[", "os.environ.get", "os.getenv"))
    }
    assert readers <= {"config/env.py", "prm/processes.py"}, "settings; and what torchrun tells the processes it starts"


def test_bodies_are_structs_and_no_serializers():
    imports = re.compile(r"from rest_framework(\.serializers)? import .*\bserializers\b|rest_framework\.serializers")
    files = [path for package in PACKAGES for path in (BASE_DIR / package).rglob("*.py")]
    assert len(files) > 100
    assert not [path for path in files if imports.search(path.read_text())]
