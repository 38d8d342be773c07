"""A file of labels only is joined to the solutions of the project by their ids."""

import json

import pytest

from annotation.core.wording import in_words
from annotation.files.import_preview import preview_import
from annotation.models import Annotation, ImportOptions, Problem, Solution, Step
from prm.formats.identity import key_of

pytestmark = pytest.mark.django_db

SOLUTIONS = [
    {"problem": f"p{n}", "id": f"a-{n}", "steps": ["one", {"text": "look", "kind": "observation"}, "three"]}
    for n in range(3)
]


def lines(*values):
    return "\n".join(map(json.dumps, values)).encode()


def label(n=0, **fields):
    return {"solution": f"a-{n}", **fields}


def counts(job):
    return job.accepted, job.duplicates, job.rejected, job.annotations


def refusals(job):
    return [(row.line, row.field, str(in_words(row.reason))) for row in job.rejections.all()]


def test_labels_are_joined_by_the_id_of_the_file_or_by_stepmarks_key_or_number(import_content):
    import_content(SOLUTIONS)
    second = Solution.objects.get(external_id="a-1")
    key = key_of(Problem.objects.get(text="p2").text_hash, Solution.objects.get(external_id="a-2").content_hash)
    content = [
        label(ratings=[1, None, -1], annotator="ann", comment="see step 3"),
        {"solution": second.pk, "first_error": -1, "annotator": "ann"},
        {"solution": key, "first_error": 0, "kind": "model_judge", "annotator": "judge-2"},
    ]
    job = import_content(content, name="labels.jsonl")
    assert (job.format, counts(job)) == ("labels", (3, 0, 0, 3)), refusals(job)
    assert Solution.objects.count() == 3
    assert Step.objects.count() == 9
    first = Annotation.objects.get(solution__external_id="a-0")
    assert (first.source.kind, first.annotator.name_in_file, first.first_error) == ("human", "ann", 2)
    assert first.comment == "see step 3"
    assert [rating.step.text for rating in first.ratings.order_by("step__position")] == ["one", "three"]
    assert Annotation.objects.get(solution=second).first_error == -1
    third = Annotation.objects.get(solution__external_id="a-2")
    assert (third.source.kind, third.first_error) == ("model_judge", 0)


def test_a_second_import_of_the_labels_adds_nothing_also_after_others_changed_the_solution(import_content):
    import_content(SOLUTIONS)
    content = [label(ratings=[1, None, -1], annotator="ann")]
    import_content(content)
    solution = Solution.objects.get(external_id="a-0")
    solution.final_answer_correct, solution.outcome_source, solution.extra = True, "tests", {"tests": {"passed": 1}}
    solution.save()
    Step.objects.create(solution=solution, position=2, alternative=1, text="better")
    job = import_content(content)
    assert counts(job) == (0, 1, 0, 0), refusals(job)
    assert counts(import_content([label(ratings=[1, None, 1], annotator="ann")])) == (1, 0, 0, 1)
    assert list(Annotation.objects.order_by("revision").values_list("revision", flat=True)) == [1, 2]
    assert Solution.objects.count() == 3


def test_what_cannot_be_joined_is_refused_by_line_with_the_reason(import_content):
    import_content([*SOLUTIONS, SOLUTIONS[0] | {"problem": "another"}])
    content = [
        label(9, first_error=0),
        label(1, ratings=[1, 1]),
        label(1, first_error=3),
        label(0, first_error=0),
        {"solution": 10**30, "first_error": 0},
        label(1, ratings=[1, 0, 1], first_error=1),
        {"solution": " ", "first_error": 1},
        label(1, ratings=[1, "x", 1]),
        label(1, ratings=[1, None, 1]),
    ]
    job = import_content(content, format="labels")
    assert counts(job) == (1, 0, 8, 1)
    unknown = "no solution in this project has this id"
    assert refusals(job) == [
        (1, "solution", unknown),
        (2, "ratings", "Expected a label for each of 3 steps, got 2 labels"),
        (3, "first_error", "Expected a step from 0 to 2, or -1 for no error, got 3"),
        (4, "solution", "2 solutions in this project have this id"),
        (5, "solution", unknown),
        (6, "ratings", "Expected either `ratings` or `first_error`"),
        (7, "solution", "Expected the id of a solution, got none"),
        (8, "ratings", "Expected a rating, got 'x'"),
    ]
    assert [json.loads(bytes(row.original)) for row in job.rejections.all()] == content[:-1]


def test_labels_of_another_project_are_unknown(import_content, project, manager):
    from annotation.core.membership.projects import create_project

    import_content(SOLUTIONS)
    other = create_project(by=manager, name="Other", slug="other")
    Solution.objects.update(project=other)
    assert counts(import_content([label(first_error=0)])) == (0, 0, 1, 0)


def test_a_csv_file_of_labels_is_joined_too(import_content):
    import_content(SOLUTIONS)
    job = import_content(b"solution,annotator,first_error\na-0,ann,N/A\na-1,ann,2\na-2,bob,\n", name="labels.csv")
    assert (job.format, counts(job)) == ("labels", (2, 0, 1, 2)), refusals(job)
    ratings = b'solution,ratings\na-2,"[1, null, 0]"\n'
    assert counts(import_content(ratings, name="ratings.csv")) == (1, 0, 0, 1)
    assert dict(Annotation.objects.values_list("solution__external_id", "first_error")) == {
        "a-0": -1,
        "a-1": 2,
        "a-2": -1,
    }


def test_the_options_for_labels_apply(import_content):
    import_content(SOLUTIONS)
    import_content([label(first_error=0)], options=ImportOptions(annotator="judge-9", labelled_by="model_judge"))
    [source] = [annotation.source for annotation in Annotation.objects.all()]
    assert (source.kind, source.name) == ("model_judge", "judge-9")


def test_the_preview_shows_the_solutions_and_the_unknown_ids(import_content, project):
    import_content(SOLUTIONS)
    head = lines(label(first_error=2), label(7, first_error=2))

    def preview(project):
        return preview_import(
            head=head, whole=True, filename="f", format="auto", decomposition="automatic", project=project
        )

    shown = preview(project)
    [(line, record)] = shown.records
    assert (shown.format, line, record.problem, record.annotations[0].first_error) == ("labels", 1, "p0", 2)
    assert [(one.line, one.field) for one in shown.rejections] == [(2, "solution")]
    assert len(preview(None).rejections) == 2
