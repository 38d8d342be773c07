"""Problems without solutions are refused, or imported by choice to be sampled later."""

import pytest

from annotation.core.errors import DomainError
from annotation.core.wording import in_words
from annotation.files.import_preview import preview_import
from annotation.files.warnings import warnings_in_words
from annotation.loop.sampling.sampling_runs import chosen_problems
from annotation.models import ImportOptions, Problem, SamplingRun, Solution

pytestmark = pytest.mark.django_db

KEEP = ImportOptions(no_solution="keep")
LINES = [{"problem": "p1", "answer": "4", "domain": "algebra"}, {"problem": "p2", "steps": ["a"]}, {"problem": "p1"}]
CSV = b"question,target,subject\np1,4,algebra\np2,5,algebra\n"


def counts(job):
    return job.accepted, job.duplicates, job.rejected


def test_by_default_a_record_without_a_solution_is_refused(import_content):
    job = import_content(LINES)
    assert counts(job) == (1, 0, 2)
    assert {str(in_words(row.reason)) for row in job.rejections.all()} == {
        "Expected at least one step in `steps`, or a `solution`"
    }
    with pytest.raises(DomainError, match="Choose the column that holds the steps"):
        import_content(CSV, name="a.csv")


def test_problems_without_solutions_are_imported_by_choice(import_content):
    job = import_content(LINES, options=KEEP)
    assert counts(job) == (2, 1, 0)
    problem = Problem.objects.get(text="p1")
    assert (problem.reference_answer, problem.domain, problem.solutions.count()) == ("4", "algebra", 0)
    assert Solution.objects.count() == 1
    assert "2 problems have no solution. Sample solutions for them" in " ".join(
        map(str, warnings_in_words(job.warnings))
    )
    assert counts(import_content(LINES, options=KEEP)) == (0, 3, 0)


def test_a_table_of_problems_is_imported_by_choice_and_can_be_sampled(import_content, project):
    job = import_content(CSV, name="a.csv", options=KEEP)
    assert (job.format, counts(job)) == ("table", (2, 0, 0))
    assert set(Problem.objects.values_list("text", "reference_answer")) == {("p1", "4"), ("p2", "5")}
    for choice in SamplingRun.Choice.values:
        assert len(chosen_problems(project, choice=choice, domain="algebra", most=None)) == 2


def test_a_solution_for_a_problem_that_is_already_there_is_added(import_content):
    import_content(LINES, options=KEEP)
    assert counts(import_content([{"problem": "p1", "steps": ["a"]}])) == (1, 0, 0)
    assert Problem.objects.get(text="p1").solutions.count() == 1


@pytest.mark.parametrize("line", [{"problem": " "}, {"problem": "p", "domain": "d" * 101}])
def test_a_bad_problem_is_refused(import_content, line):
    assert counts(import_content([line], options=KEEP)) == (0, 0, 1)


def test_the_preview_shows_the_problems(import_content):
    def preview(options):
        return preview_import(
            head=CSV, whole=True, filename="a.csv", format="auto", decomposition="automatic", options=options
        )

    assert preview(ImportOptions()).lacks
    shown = preview(KEEP)
    assert [record.problem for _, record in shown.records] == ["p1", "p2"]
    assert "have no solution" in " ".join(map(str, shown.warnings))
