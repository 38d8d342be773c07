"""Every decision record has the same form, the index names it by its title, and the files that it names exist."""

import re

import pytest

from config.env import BASE_DIR

FOLDER = BASE_DIR / "docs" / "adr"
RECORDS = sorted(FOLDER.glob("0*.md"))
PACKAGES = [
    "annotation",
    "config",
    "docs",
    "labelling_ui/frontend/src",
    "labelling_ui/pages",
    "launch",
    "prm",
    "stepmark",
    "tests",
]
FILES = {path.as_posix() for package in PACKAGES for path in (BASE_DIR / package).rglob("*.*")}


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_has_the_template_and_a_line_in_the_index(path):
    text = path.read_text()
    title = re.match(rf"# {path.name[:4]}: (.+)\n", text)
    assert title
    assert re.findall(r"^## (.+)", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert f"| [{path.name[:4]}]({path.name}) | {title[1]} |" in (FOLDER / "README.md").read_text()


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_the_files_that_a_decision_names_exist(path):
    decision = path.read_text().partition("## Decision")[2]
    named = re.findall(r"`([\w/]+\.(?:py|ts|tsx|sql))`", decision)
    assert [name for name in named if not any(file.endswith(f"/{name}") for file in FILES)] == []
