"""A list has the same filters on its page and in the API."""

import csv
import io

import msgspec
import pytest
from django.http import QueryDict
from django.test import Client

from annotation.models import Membership, Project
from labelling_ui.pages.labels import COLUMNS, LabelFilters, OwnLabelFilters
from labelling_ui.pages.quality import COLUMNS as BATCH_COLUMNS
from labelling_ui.pages.quality import BatchFilters
from labelling_ui.pages.solutions import SolutionFilters
from tests.factories import AnnotationFactory


@pytest.mark.parametrize(
    ("form", "columns"),
    [(LabelFilters, COLUMNS), (OwnLabelFilters, ()), (BatchFilters, BATCH_COLUMNS), (SolutionFilters, None)],
)
def test_the_fields_of_a_page_are_those_of_the_api(form, columns, project: Project) -> None:
    fields = form(QueryDict(), project, *([] if columns is None else [columns])).fields
    assert set(fields) == {field.name for field in msgspec.structs.fields(form.kind)}


def test_a_person_is_named_by_pseudonym_in_an_address(client: Client, project: Project, people) -> None:
    client.force_login(people["manager"])
    person = Membership.objects.get(project=project, user=people["annotator"])
    rows = b"".join(client.get(f"/p/algebra/labels/?annotator={person.pseudonym}&download=csv")).decode()
    assert {row["annotator"] for row in csv.DictReader(io.StringIO(rows))} == {"annotator"}


def test_a_comparison_that_lacks_a_source_is_ignored_on_the_page(client: Client, project: Project, people) -> None:
    client.force_login(people["manager"])
    assert client.get("/p/algebra/solutions/?way=differing").context["listing"].page.paginator.count == 3


def test_a_hidden_filter_ignores_what_it_cannot_read(client: Client, project: Project, people) -> None:
    client.force_login(people["manager"])
    for query in ("lane=bogus", "way=bogus", "domain=%00", "week=%00"):
        assert client.get(f"/p/algebra/solutions/?{query}").context["listing"].page.paginator.count == 3
    assert client.get("/p/algebra/solutions/?domain=bogus").context["listing"].page.paginator.count == 0


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("solutions/?split=bogus&lane=bogus&outcome=wrong", "Split, Lane"),
        ("solutions/?one=1&policy=%20&disagreement=false", "One"),
        ("solutions/?generation=1", ""),
        ("labels/?since=yesterday", "Since"),
        ("jobs/?state=bogus", "State"),
        ("quality/agreement/?week=32&between=bogus", "Labels by"),
        ("judge/?split=bogus", "Split"),
        ("review/?reason=bogus", "Reason"),
        ("review/?reason=dispute&sort=-solution", ""),
        ("jobs/?state=bogus&sort=bogus", "State, Sort order"),
        ("models/?sort=-bogus", "Sort order"),
        ("gold/?state=bogus&review=on", "State"),
    ],
)
def test_a_page_names_the_filters_that_it_does_not_apply(
    client: Client, project: Project, people, settings, address: str, named: str
) -> None:
    settings.POLICY_ENDPOINTS = {"judge": {"url": "http://127.0.0.1:1/v1", "model": "judge"}}
    client.force_login(people["manager"])
    page = client.get(f"/p/algebra/{address}").content.decode()
    assert (f"Not applied, because the value is not valid: {named}." in page) == bool(named)
    assert bool(named) or "Not applied" not in page


def test_a_day_of_the_chart_counts_the_labels_of_its_list(client: Client, project: Project, people) -> None:
    client.force_login(people["manager"])
    AnnotationFactory(solution=project.solutions.first(), annotator=None)  # as a file adds it
    chart = client.get("/p/algebra/").context["charts"][0]
    [(count, address)] = [(bar.title, bar.href) for bar in chart.bars if bar.href]
    listed = client.get(address).context["listing"]
    assert f"{listed.page.paginator.count} labels" in count
    others = client.get("/p/algebra/labels/?by=others").context["listing"]
    assert [label.annotator for label in others] == [None]
