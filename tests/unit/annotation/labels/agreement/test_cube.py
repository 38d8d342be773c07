"""The agreement of a project, cut by what its labels and solutions are."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core import packed_columns
from annotation.labels.agreement.cube import Compared, Cube
from annotation.labels.consensus.review_queue import review_counts
from annotation.models import Annotation, Project, Solution
from tests.factories import (
    AnnotationFactory,
    GenerationFactory,
    LabelSourceFactory,
    MembershipFactory,
    ProjectFactory,
    QueueItemFactory,
    SolutionFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return ProjectFactory()


@pytest.fixture
def people(project):
    return [MembershipFactory(project=project) for _ in range(3)]


def solution(project: Project, *, domain: str = "", steps: int = 3, generator: str = "") -> Solution:
    return SolutionFactory(
        project=project, problem__project=project, problem__domain=domain, generator=generator, steps=["x"] * steps
    )


def label(of: Solution, by, first_error: int, *, day: int = 2, **fields: object) -> Annotation:
    """A label with a rating of each step up to its first error; `by` is a member or a label source."""
    who = {"source": by, "annotator": None} if by.__class__.__name__ == "LabelSource" else {"annotator": by}
    made = AnnotationFactory(
        solution=of,
        first_error=first_error,
        finish_reason="solution" if first_error == -1 else "found_error",
        submitted_at=datetime(2026, 3, day, 12, tzinfo=UTC),
        **who,
        **fields,
    )
    for step in of.steps.all():
        if first_error in (-1, step.position) or step.position < first_error:
            made.ratings.create(step=step, state="rated", rating=-1 if step.position == first_error else 1)
    return made


def shown(cells):
    return {(cell.row, cell.column): (cell.value, cell.solutions, cell.pairs) for cell in cells}


def test_imported_labels_without_an_annotator_count_neither_here_nor_in_review(project, people):
    sources = [LabelSourceFactory(project=project, kind="human", name=name) for name in ("file", "file (2)")]
    for by in (people[:1], sources[:1]):
        of = solution(project)
        label(of, by[0], 1)
        label(of, sources[1], -1)
    assert Cube(project, Compared()).cells("exact") == []
    assert review_counts(project)["disagreement"] == 0


def test_only_the_latest_opinions_of_people_outside_hidden_lanes_are_compared(project, people):
    ana, ben, cem = people
    first = solution(project)
    earlier = label(first, ana, 0)
    label(first, ana, 2, revision=2, source=earlier.source)
    label(first, ben, 2)
    label(first, cem, 1, adjudicates=True)
    label(first, LabelSourceFactory(project=project, kind="model_judge", name="judge"), 1)
    label(solution(project), ana, 1)
    hidden = solution(project)
    for person in people:
        label(hidden, person, 1, lane="gold")
    cube = Cube(project, Compared())
    assert cube.solutions == [first.pk]
    assert shown(cube.cells("exact")) == {("", ""): (1.0, 1, 1)}
    assert shown(cube.cells("exact_alpha")) == {("", ""): (None, 1, 1)}, "nothing varies, so that alpha is undefined"


def test_machines_are_compared_if_they_are_asked_for(project, people):
    ana, ben, _cem = people
    judge, other = (LabelSourceFactory(project=project, kind="model_judge", name=name) for name in "jk")
    both, one, machines = (solution(project) for _ in range(3))
    label(both, ana, 0), label(both, ben, 0), label(both, judge, 1)
    label(one, ana, 2), label(one, judge, 2)
    label(machines, judge, 1), label(machines, other, 1)
    assert shown(Cube(project, Compared(between="everyone")).cells("exact")) == {("", ""): (3 / 5, 3, 5)}
    against = Cube(project, Compared(between="machines"))
    assert shown(against.cells("exact")) == {("", ""): (1 / 3, 2, 3)}
    assert shown(against.cells("exact", "annotator")) == {
        (f"source-{judge.pk}", ""): (1 / 3, 2, 3),
        (str(ana.pseudonym), ""): (0.5, 2, 2),
        (str(ben.pseudonym), ""): (0.0, 1, 1),
    }


def test_two_dimensions_cut_the_solutions_and_each_cell_opens_its_own(project, people):
    ana, ben, cem = people
    algebra = [solution(project, domain="algebra", generator="a"), solution(project, domain="algebra", steps=9)]
    other = solution(project, generator="b")
    generation = GenerationFactory(project=project, number=4)
    for of in algebra:
        label(of, ana, 1, day=2)
        label(of, ben, 1, day=10, item=QueueItemFactory(project=project, solution=of, generation=generation))
    label(other, ana, 0), label(other, cem, 1)
    cube = Cube(project, Compared())
    assert shown(cube.cells("exact", "domain", "length")) == {
        ("algebra", "1-4"): (1.0, 1, 1),
        ("algebra", "9-16"): (1.0, 1, 1),
        ("unknown", "1-4"): (0.0, 1, 1),
    }
    assert {cell.row for cell in cube.cells("exact", "week")} == {"2026-03-02", "2026-03-09"}
    assert {cell.row for cell in cube.cells("exact", "generation")} == {"4", "unknown"}
    pairs = {cell.row: cell.solutions for cell in cube.cells("exact", "pair")}
    assert pairs == {f"{ana.pseudonym} {ben.pseudonym}": 2, f"{ana.pseudonym} {cem.pseudonym}": 1}
    for filters, expected in [
        ({"domain": "algebra"}, algebra),
        ({"domain": "unknown"}, [other]),
        ({"length": "9-16"}, algebra[1:]),
        ({"generator": "b"}, [other]),
        ({"labelled_in": "4"}, algebra),
        ({"week": "2026-03-02"}, [other]),
        ({"week": "2026-04-06"}, []),
        ({"annotator": str(ana.pseudonym)}, [*algebra, other]),
        ({"annotator": str(cem.pseudonym), "peer": str(ana.pseudonym)}, [other]),
        ({"annotator": str(cem.pseudonym), "peer": str(ben.pseudonym)}, []),
        ({"annotator": "nobody"}, []),
    ]:
        assert Cube(project, Compared(**filters)).solutions == [of.pk for of in expected], filters


def test_steps_are_compared_by_their_ratings(project, people):
    ana, ben, _cem = people
    for first, second in [(-1, -1), (1, 1), (0, 2)]:
        of = solution(project)
        label(of, ana, first), label(of, ben, second)
    cube = Cube(project, Compared())
    [whole] = cube.cells("steps_alpha")
    # Pairs of ratings: good-good three times, then good-good and bad-bad, then bad-good: 9 good and 3 bad in 6 pairs.
    assert (whole.solutions, whole.pairs) == (3, 6)
    assert whole.value == pytest.approx(1 - (12 - 1) * 2 / (2 * 9 * 3))
    [pair] = cube.cells("steps_kappa", "pair")
    # Ana: 4 good and 2 bad; Ben: 5 good and 1 bad. They differ once in six.
    assert pair.value == pytest.approx(1 - (1 / 6) / ((4 * 1 + 2 * 5) / 36))


@pytest.mark.parametrize("between", ["people", "everyone", "machines"])
def test_a_project_without_shared_labels_has_no_cells(project, people, between):
    label(solution(project), people[0], 1)
    cube = Cube(project, Compared(between=between))
    assert cube.solutions == []
    for by in [(), ("week",), ("pair",), ("annotator", "length"), ("domain", "generator")]:
        for measure in ("exact", "steps_alpha", "steps_kappa"):
            assert cube.cells(measure, *by) == []


def test_the_labels_come_in_rows_of_a_bounded_size(project, people, monkeypatch):
    """A connection keeps a buffer for the largest row that it has received, for as long as it is open."""
    ana, ben, _cem = people
    for first, second in [(-1, -1), (1, 1), (0, 2), (1, 2), (2, 2)]:
        of = solution(project)
        label(of, ana, first), label(of, ben, second)
    whole = [shown(Cube(project, Compared()).cells(measure)) for measure in ("exact", "steps_alpha")]
    monkeypatch.setattr(packed_columns, "PACKED_ROWS", 3)
    with CaptureQueriesContext(connection) as queries:
        assert [shown(Cube(project, Compared()).cells(measure)) for measure in ("exact", "steps_alpha")] == whole
    packed = [query["sql"] for query in queries if "string_agg" in query["sql"]]
    assert packed
    for statement in packed:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            rows = cursor.fetchall()
        assert len(rows) > 3
        assert max(len(row) for [row] in rows) <= 3 * 7 * 8
