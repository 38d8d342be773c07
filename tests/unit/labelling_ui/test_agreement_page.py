"""The page of agreement: figures, a line by week, heat maps, and the table with its file."""

import csv
import io

import pytest
from django.test import Client

from annotation.models import Project
from labelling_ui.pages.agreement import MEASURES
from tests.factories import AnnotationFactory, LabelSourceFactory

pytestmark = pytest.mark.usefixtures("project")


def test_each_number_of_solutions_opens_them(manager: Client, project: Project) -> None:
    page = manager.get("/p/algebra/quality/agreement/?rows=pair&columns=length")
    [cell] = page.context["listing"]
    assert (cell.value, cell.solutions, cell.pairs) == (0.0, 1, 1)
    content = page.content.decode()
    annotator, peer = cell.row.split(" ")
    query = f"between=people&amp;length=1-4&amp;annotator={annotator}&amp;peer={peer}"
    assert content.count(f'href="/p/algebra/solutions/?{query}"') == 2, "in the heat map and in the table"
    listed = manager.get("/p/algebra/solutions/?" + query.replace("&amp;", "&")).context["listing"]
    assert [solution.labels for solution in listed] == [2]


@pytest.mark.slow
def test_every_measure_has_its_page_and_the_file_has_the_rows_of_the_table(manager: Client) -> None:
    for name in MEASURES:
        page = manager.get("/p/algebra/quality/agreement/", {"measure": name})
        assert str(MEASURES[name].name) in page.content.decode()
    address = "/p/algebra/quality/agreement/?rows=annotator&columns=week"
    file = b"".join(manager.get(address + "&download=csv")).decode()
    rows = list(csv.DictReader(io.StringIO(file)))
    assert [row["row"] for row in rows] == ["annotator", "second"]
    assert {(row["agreement"], row["low"], row["solutions"], row["pairs"]) for row in rows} == {("0.0", "", "1", "1")}


def test_a_project_without_shared_labels_says_what_it_needs(manager: Client) -> None:
    page = manager.get("/p/algebra/quality/agreement/?between=machines").content.decode()
    assert "Nothing to compare" in page


def test_machines_are_compared_with_people(manager: Client, project: Project) -> None:
    solution = project.annotations.first().solution
    judge = LabelSourceFactory(project=project, kind="model_judge", name="judge")
    AnnotationFactory(solution=solution, annotator=None, source=judge, first_error=1)
    page = manager.get("/p/algebra/quality/agreement/?between=machines&rows=annotator")
    assert page.context["figures"][0]["pairs"] == 2
    assert '<th scope="row">judge</th>' in page.content.decode()
