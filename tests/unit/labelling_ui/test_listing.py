"""The database queries of a page of a long list, and of its file."""

import csv

import pytest
from django.test import RequestFactory

from annotation.loop.pool.scored_solutions import first_labels, solutions_with_scores
from labelling_ui.pages import listing as listings
from labelling_ui.pages.columns import Number
from labelling_ui.pages.listing import Listing
from labelling_ui.pages.solutions import COLUMNS, SolutionFilters
from tests.factories import AnnotationFactory, ModelVersionFactory, ProjectFactory, SolutionFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def show(monkeypatch):
    """A page of a list of five solutions, two on each, by the query of its address; two have no known outcome, and
    two no labels."""
    monkeypatch.setattr(listings, "ROWS_A_PAGE", 2)
    project = ProjectFactory()
    for correct, labels in ((True, 1), (None, 2), (False, 0), (True, 1), (None, 0)):
        solution = SolutionFactory(project=project, final_answer_correct=correct)
        AnnotationFactory.create_batch(labels, solution=solution, project=project)
    version = ModelVersionFactory(project=project)

    def show(**query):
        request = RequestFactory().get("/", query)
        counted = {"labels": (first_labels(project), "solution")}
        filters = SolutionFilters(request.GET, project)
        rows = solutions_with_scores(project, version)
        return Listing(request, rows, COLUMNS, sort="-solution", filters=filters, counted=counted)

    return show


def test_related_rows_are_counted_only_for_rows_that_have_some(show, django_assert_num_queries):
    with django_assert_num_queries(3) as asked:
        listing = show(sort="-labels")
        assert [row.labels for row in listing] == [2, 1]
    _count, keys, _rows = (query["sql"] for query in asked)
    assert 'FROM "annotation_annotation"' in keys
    assert "annotation_solution" not in keys
    assert [row.labels for page in (1, 2, 3) for row in show(sort="labels", page=page)] == [0, 0, 1, 1, 2]
    assert [row.labels for row in show(sort="-labels", outcome="correct")] == [1, 1]
    assert [row.labels for row in show(sort="-labels", outcome="wrong")] == [0]


def test_keys_that_the_caller_has_read_are_not_read_again(django_assert_num_queries, monkeypatch):
    monkeypatch.setattr(listings, "ROWS_A_PAGE", 2)
    project = ProjectFactory()
    keys = [solution.pk for solution in SolutionFactory.create_batch(3, project=project)]
    rows, columns = project.solutions.all(), [Number("solution", "", "pk", sort=True)]
    with django_assert_num_queries(1):
        listing = Listing(RequestFactory().get("/"), rows, columns, sort="solution", known=keys)
        assert keys_of(listing) == keys[:2]
        assert (listing.shown_count(), listing.page.has_next()) == ("3", True)
    downwards = Listing(RequestFactory().get("/?sort=-solution"), rows, columns, sort="solution", known=keys)
    assert keys_of(downwards) == keys[:0:-1]


def keys_of(listing):
    return [row.pk for row in listing]


def test_the_columns_of_rows_before_a_page_are_not_computed(show, django_assert_num_queries):
    with django_assert_num_queries(3) as asked:
        assert len(keys_of(show(page=2))) == 2
    _count, keys, rows = (query["sql"] for query in asked)
    assert "annotation_poolscore" not in keys
    assert "annotation_poolscore" in rows


@pytest.mark.parametrize(("sort", "joined"), [("score", True), ("-gain", True), ("domain", False), ("-split", False)])
def test_rows_are_ordered_by_a_plain_field_which_an_index_can_have(show, sort, joined, django_assert_max_num_queries):
    with django_assert_max_num_queries(4) as asked:
        keys_of(show(sort=sort))
    ordered = asked[1]["sql"]
    assert "NULLS LAST" not in ordered.split("LIMIT")[0]
    assert ('INNER JOIN "annotation_poolscore"' in ordered) == joined


@pytest.mark.parametrize("sort", ["answer", "-answer", "score", "labels", "-labels"])
def test_pages_follow_each_other_with_unknown_values_last(show, sort):
    shown = [key for page in (1, 2, 3) for key in keys_of(show(sort=sort, page=page))]
    assert len(set(shown)) == 5
    assert shown == [row.pk for row in show(sort=sort).all]
    if sort.endswith("answer"):
        assert [row.outcome for row in show(sort=sort, page=3)] == ["unknown"]


@pytest.mark.parametrize("sort", ["domain", "-domain"])
def test_a_column_with_few_values_is_read_value_by_value(django_assert_num_queries, monkeypatch, sort):
    monkeypatch.setattr(listings, "ROWS_A_PAGE", 2)
    project = ProjectFactory()
    for domain in ("code", "algebra", "", "code", "code", "algebra"):
        SolutionFactory(project=project, problem__domain=domain)

    def show(page, **query):
        request = RequestFactory().get("/", {"sort": sort, "page": page} | query)
        values = {"problem__domain": lambda: ["", "algebra", "code"]}
        filters = SolutionFilters(request.GET, project)
        rows = project.solutions.all()
        return Listing(request, rows, COLUMNS[:3], sort="-solution", filters=filters, values=values)

    expected = keys_of(project.solutions.order_by(f"{sort[:-6]}problem__domain", "-pk"))
    assert [key for page in (1, 2, 3) for key in keys_of(show(page))] == expected
    assert [key for page in (1, 2) for key in keys_of(show(page, split="pool"))] == expected[:4]
    with django_assert_num_queries(3 if sort == "-domain" else 4) as asked:
        keys_of(show(1))
    sorts = [query["sql"].partition("ORDER BY")[2] for query in asked]
    assert not any('"domain"' in sort for sort in sorts[1:-1])
    monkeypatch.setattr(listings, "EARLY", 2)
    assert [key for page in (1, 2, 3) for key in keys_of(show(page))] == expected
    monkeypatch.setattr(listings, "MOST_VALUES", 2)
    with django_assert_num_queries(3) as asked:
        assert keys_of(show(1)) == expected[:2]
    assert '"domain"' in asked[1]["sql"].partition("ORDER BY")[2]


def test_the_number_of_many_rows_is_estimated_unless_asked_for(show, monkeypatch):
    assert (show().page.paginator.count, show().estimated) == (5, False)
    monkeypatch.setattr(listings, "MOST_COUNTED", 2)
    monkeypatch.setattr(listings.QuerySet, "explain", lambda *_, **__: '[{"Plan": {"Plan Rows": 1234}}]')
    assert (show().shown_count(), show().estimated) == ("about 1,200", True)
    assert show(exact=1).shown_count() == "5"
    assert (show(page=3).page.paginator.count, show(page=3).estimated) == (5, False)
    assert keys_of(show(page=9)) == keys_of(show(page=3))


def test_few_rows_of_a_filter_are_read_without_a_limit(show, django_assert_num_queries, monkeypatch):
    """With a limit, the database looks for them in an index of all rows."""
    monkeypatch.setattr(listings, "ROWS_A_PAGE", 2)
    for filters, limited in (({}, True), ({"split": "pool"}, False)):
        with django_assert_num_queries(3) as asked:
            listing = show(**filters)
            keys = keys_of(listing)
        assert ("LIMIT" in asked[1]["sql"]) == limited
        assert keys == [row.pk for row in listing.all[:2]]


def test_a_file_is_read_as_values_with_the_cells_of_its_columns(show):
    listing = show(sort="answer")
    assert {type(row) for row in listing.downloaded(COLUMNS)} == {tuple}
    cells = [["" if (cell := c.value(row)) is None else str(cell) for c in COLUMNS] for row in listing.all]
    assert list(csv.reader(listing.csv())) == [[c.name for c in COLUMNS], *cells]
