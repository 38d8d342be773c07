"""The glossary, the links to it on the pages, and the explanations of charts and statistics."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.template import Context, Template
from django.test import Client
from django.utils.html import strip_tags

from annotation.models import Project
from labelling_ui.glossary import AMBIGUOUS, EVERYDAY, TERMS, as_markdown, find_terms
from labelling_ui.pages.columns import Share
from tests.every_page import addresses

TEMPLATES = Path(settings.BASE_DIR) / "labelling_ui" / "templates"
NAMING = {"h1", "h2", "h3", "th", "dt"}


class Names(HTMLParser):
    """The headings, column headers and names of statistics in the content of a page, each with the terms that it links.

    The numbers below a chart have the chart's own words and are left out.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[tuple[str, set[str]]] = []
        self.linked: set[str] = set()
        self._open: list[str] = []
        self.feed(
            re.sub(r"<details class=\"chart-table\">.*?</details>", "", page.partition("<main")[2], flags=re.DOTALL)
        )

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        if tag in NAMING and named.get("scope") != "row":
            self._open.append(tag)
            self.names.append(("", set()))
        if tag == "a" and {"term", "explain"} & set((named.get("class") or "").split()):
            assert named.get("aria-description"), named
            key = (named.get("href") or "").partition("/glossary/#")[2]
            self.linked.add(key)
            if self._open:
                self.names[-1][1].add(key)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            self._open.remove(tag)

    def handle_data(self, text: str) -> None:
        if self._open:
            name, keys = self.names[-1]
            self.names[-1] = (name + text, keys)


def test_the_documentation_has_the_same_glossary() -> None:
    written = (Path(settings.BASE_DIR) / "docs" / "glossary.md").read_text()
    assert written == as_markdown(), "run `python manage.py glossary`"


def test_the_glossary_is_in_the_menu_and_has_every_term(client: Client, people: dict[str, User]) -> None:
    client.force_login(people["annotator"])
    assert 'href="/glossary/"' in client.get("/").content.decode()
    page = client.get("/glossary/").content.decode()
    assert [key for key in TERMS if f'<div id="{key}">' not in page] == []


@pytest.mark.slow
def test_a_page_links_each_term_in_its_headings_headers_statistics_sentences_and_settings(
    client: Client, people: dict[str, User], project: Project
) -> None:
    client.force_login(people["manager"])
    faults, linked = [], set()
    for address in addresses(project):
        answer = client.get(address)
        if address == "/glossary/" or answer.status_code != 200 or "html" not in answer["Content-Type"]:
            continue
        content = answer.content.decode()
        page = Names(content)
        linked |= page.linked
        for name, keys in page.names:
            shown = find_terms(name, TERMS.keys() - EVERYDAY).keys()
            if not shown & keys and shown - page.linked:
                faults.append(f"{address}: {name.strip()!r} links none of {shown}")
        for text in _sentences_and_settings(content.partition("<main")[2]):
            shown = find_terms(text, TERMS.keys() - EVERYDAY - AMBIGUOUS).keys()
            if shown - page.linked:
                faults.append(f"{address}: {' '.join(text.split())!r} links none of {shown - page.linked}")
    assert not faults, "\n".join(sorted(set(faults)))
    assert linked <= set(TERMS)
    assert {"gate", "lane", "informedness", "first_error", "holdout", "champion"} <= linked


def _sentences_and_settings(content: str) -> Iterator[str]:
    for words in re.findall(r"<p(?: [^>]*)?>(.*?)</p>|<label for=[^>]*>([^<].*?)</label>", content, re.DOTALL):
        yield strip_tags(re.sub(r"<code>.*?</code>", "", "".join(words)))


def test_terms_are_linked_once_and_not_within_a_link() -> None:
    source = '{% terms %}<a href="/">Holdout</a> of the pool &amp; the <b>pools</b>, holdout shares{% endterms %}'
    linked = Template(source).render(Context())
    assert [*re.findall(r'href="([^"]*)"', linked)] == ["/", "/glossary/#pool", "/glossary/#holdout"]
    assert strip_tags(linked) == "Holdout of the pool &amp; the pools, holdout shares"


def test_a_statistic_without_an_explanation_is_refused() -> None:
    with pytest.raises(TypeError, match="give it `term` or `help`"):
        Share("right", "Right")


def test_a_figure_shows_its_name_with_an_explanation_and_its_values() -> None:
    figure = Template('{% figure "Cost" "Seconds." term="label" %}<dd>42</dd>{% endfigure %}').render(Context())
    assert figure == (
        '<div class="figure"><dt><a class="term" href="/glossary/#label" aria-description="Seconds.">Cost</a></dt>'
        "<dd>42</dd></div>"
    )


def test_every_figure_and_chart_is_made_by_a_part_that_explains_it() -> None:
    sources = {path.name: path.read_text() for path in TEMPLATES.rglob("*.html")}
    assert [name for name, source in sources.items() if 'class="figure"' in source] == []
    charts = {name: source for name, source in sources.items() if re.search(r"<figure class=\"[^\"]*chart", source)}
    assert set(charts) == {"chart.html", "simulation.html"}
    assert all("<h3>{% explain " in source for source in charts.values())
