"""What a page of a long list asks of the database."""

import pytest
from django.test import RequestFactory

from annotation.loop.pool.scored_solutions import solutions_with_scores
from labelling_ui.pages import listing as listings
from labelling_ui.pages.listing import Listing
from labelling_ui.pages.solutions import COLUMNS
from tests.factories import ModelVersionFactory, ProjectFactory, SolutionFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def second_page(monkeypatch):
    """The second page of three solutions, one on each, by the sort order of its address."""
    monkeypatch.setattr(listings, "ROWS_A_PAGE", 1)
    project = ProjectFactory()
    SolutionFactory.create_batch(3, project=project)
    version = ModelVersionFactory(project=project)

    def show(sort):
        request = RequestFactory().get("/", {"sort": sort, "page": "2"})
        return Listing(request, solutions_with_scores(project, version), COLUMNS, sort="-solution").page.object_list

    return show


def test_the_columns_of_rows_before_a_page_are_not_computed(second_page):
    rows = second_page("-solution")
    chosen, keys = str(rows.query).split('"annotation_solution"."id" IN ')
    assert len(rows) == 1
    assert "annotation_poolscore" in chosen
    assert "annotation_poolscore" not in keys


@pytest.mark.parametrize(("sort", "last"), [("-solution", False), ("split", False), ("score", True), ("domain", True)])
def test_only_a_field_that_may_be_null_is_ordered_without_its_index(second_page, sort, last):
    assert ("NULLS LAST" in str(second_page(sort).query)) == last
