"""Every decision record has the same form, and the index names it by its title."""

import re

import pytest

from config.env import BASE_DIR

FOLDER = BASE_DIR / "docs" / "adr"
RECORDS = sorted(FOLDER.glob("0*.md"))


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_has_the_template_and_a_line_in_the_index(path):
    text = path.read_text()
    title = re.match(rf"# {path.name[:4]}: (.+)\n", text)
    assert title
    assert re.findall(r"^## (.+)", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert f"| [{path.name[:4]}]({path.name}) | {title[1]} |" in (FOLDER / "README.md").read_text()
