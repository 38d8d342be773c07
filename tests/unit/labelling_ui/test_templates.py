"""Every template renders, and none has a word outside the catalogues."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

FOLDER = Path(settings.BASE_DIR) / "labelling_ui" / "templates"
# Rows that are no list: a form, a chart's numbers, a heat map, and steps that are read, with a column for each label.
OWN_ROWS = {
    "mapping.html", "chart.html", "agreement.html", "explanation.html", "review_case.html", "served_score.html",
    "solution.html",
}  # fmt: skip
NAMES = {"Stepmark", "PRM800K", "TRL", "CSV", "JSON", "Parquet"}
# Examples of what is to be typed, which is the same in every language.
TYPED = {("mapping.html", "-1, N/A, empty"), ("solution.html", "3, none")}
MESSAGES = re.compile(
    r"{#.*?#}|{% (comment|blocktranslate)\b.*?{% end\1 %}|{% block \w+_class %}.*?{% endblock %}", re.DOTALL
)
TAGS = re.compile(r"{%.*?%}|{{.*?}}", re.DOTALL)
WORD = re.compile(r"[^\W\d_]{2}")


@pytest.mark.parametrize("name", sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.*")))
def test_a_template_compiles(name: str) -> None:
    get_template(name)


def test_lists_draw_their_rows_by_their_columns() -> None:
    assert {path.name for path in FOLDER.rglob("*.html") if "<td" in path.read_text()} == OWN_ROWS


class Words(HTMLParser):
    """What a template says by itself, on the page or read out; code and keys are alike in every language."""

    ALIKE = ("code", "kbd", "pre", "script", "style", "svg")
    READ_OUT = ("alt", "aria-label", "placeholder", "title")

    def __init__(self, template: str) -> None:
        super().__init__()
        self.said: list[str] = []
        self._alike: list[str] = []
        self.feed(TAGS.sub("", MESSAGES.sub("", template)))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in self.ALIKE:
            self._alike.append(tag)
        self.said += [value for name, value in attributes if name in self.READ_OUT and value and WORD.search(value)]

    def handle_endtag(self, tag: str) -> None:
        if tag in self._alike:
            self._alike.remove(tag)

    def handle_data(self, text: str) -> None:
        if not self._alike and WORD.search(text):
            self.said.append(text.strip(" ·\n"))


def test_a_template_says_nothing_past_the_catalogues() -> None:
    assert Words('<p title="Here">{{ n }} rows {% translate "of" %} <kbd>Enter</kbd></p>').said == ["Here", "rows"]
    said = {
        (path.name, words)
        for path in FOLDER.rglob("*.html")
        for words in Words(path.read_text()).said
        if words not in NAMES
    }
    assert said == TYPED


def test_no_line_breaks_between_a_number_and_its_percent_sign() -> None:
    broken = {path.name for path in FOLDER.rglob("*.html") if re.search(r"\d %(?!})", path.read_text())}
    assert broken == set()
