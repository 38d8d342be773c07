"""Records into the database: nothing twice, nothing lost."""

from collections import Counter

import pytest

from annotation.core.errors import DomainError
from annotation.files.record_import import import_records
from annotation.files.store import Counts
from annotation.models import (
    Annotation,
    AuditEntry,
    LabelSource,
    Membership,
    PathStep,
    Problem,
    Solution,
    Step,
    StepRating,
)
from prm.formats.prm800k import prm800k
from prm.formats.processbench import processbench
from prm.formats.record import Completion, PathPosition, Provenance, Rating, Record, RecordAnnotation
from tests.real_data import real_data

TABLES = [Problem, Solution, Step, LabelSource, Annotation, PathStep, StepRating]


def read(module, name):
    with real_data(name).open("rb") as stream:
        return [record for _, record in module.read(stream)]


def row_counts():
    return [table.objects.count() for table in TABLES]


def one_step(text, rating=1, name="ann", **fields):
    place = PathPosition(0, chosen=0, ratings=[Rating(0, "rated", rating=rating)])
    label = RecordAnnotation(source_kind="human", source_name=name, finish_reason="solution", path=[place])
    return Record(problem="p", positions=[[Completion(text)]], annotations=[label], **fields)


def test_real_prm800k_arrives_whole_and_once(project, manager):
    records = read(prm800k, "prm800k/prm800k_real_records.jsonl")
    assert import_records(project=project, records=records, by=manager) == Counts(accepted=9, annotations=9)
    counts = row_counts()
    assert Step.objects.count() == sum(len(at) for record in records for at in record.positions)
    assert import_records(project=project, records=records, by=manager) == Counts(duplicates=9)
    assert row_counts() == counts
    give_up = Annotation.objects.filter(finish_reason="give_up")
    assert [annotation.first_error for annotation in give_up] == [None, None]
    assert Counter(Annotation.objects.values_list("first_error", flat=True)) == {-1: 5, None: 2, 6: 1, 2: 1}
    screened = Annotation.objects.get(solution__problem__text__startswith="Solve over the integers")
    assert screened.submitted_at.isoformat() == "2022-12-24T05:01:11.533682+00:00"


def test_real_processbench(project, manager):
    records = read(processbench, "processbench/math.json")
    counts = import_records(project=project, records=records, by=manager)
    assert counts == Counts(accepted=1000, annotations=1000)
    assert Annotation.objects.filter(first_error__gte=0).count() == 594
    assert StepRating.objects.filter(rating=-1).count() == 594
    assert Problem.objects.count() == 955
    assert LabelSource.objects.get().kind == "consensus"
    splits = Counter(Problem.objects.values_list("split", flat=True))
    assert {split: round(count / 955, 1) for split, count in splits.items()} == pytest.approx(
        {"pool": 0.75, "holdout": 0.15, "calibration": 0.1}, abs=0.06
    )


def test_a_second_labeller_brings_alternatives_and_keeps_the_order(project, manager):
    def label(name, *texts):
        at = [Completion("given")] + [Completion(text, added=True) for text in texts]
        shown = range(len(at) - 1, -1, -1)
        place = PathPosition(0, ratings=[Rating(number, "rated", rating=-1) for number in shown])
        annotation = RecordAnnotation("human", "found_error", [place], source_name=name)
        return Record(problem="p", positions=[at], annotations=[annotation])

    records = [label("a", "x", "x"), label("b", "y", "x")]
    assert import_records(project=project, records=records, by=manager) == Counts(accepted=2, annotations=2)
    assert Solution.objects.count() == 1
    assert list(Step.objects.values_list("alternative", "text")) == [(0, "given"), (1, "x"), (2, "x"), (3, "y")]
    second = StepRating.objects.filter(annotation__annotator__name_in_file="b").order_by("ordinal")
    assert list(second.values_list("step__text", flat=True)) == ["x", "y", "given"]


def test_a_changed_label_of_the_same_labeller_is_a_revision(project, manager):
    records = [one_step("s", 1), one_step("s", 0), one_step("s", 1, name="bob"), one_step("s", 1)]
    counts = import_records(project=project, records=records, by=manager)
    assert counts == Counts(accepted=3, duplicates=1, annotations=3, revised=1)
    found = Annotation.objects.order_by("id").values_list("annotator__name_in_file", "revision")
    assert list(found) == [("ann", 1), ("ann", 2), ("bob", 1)]


def test_the_same_problem_in_other_white_space_is_one_and_its_words_are_kept(project, manager):
    import_records(project=project, records=[one_step("s", name="a", generator="g")], by=manager)
    other = one_step("s", name="b", generator="h", reference_answer="4")
    other.problem = "  p "
    import_records(project=project, records=[other], by=manager)
    assert Problem.objects.get().text == "p"
    assert Annotation.objects.get(annotator__name_in_file="b").native == {
        "given": {"problem": "  p ", "reference_answer": "4", "generator": "h"}
    }


def test_a_member_is_known_by_the_pseudonym_and_a_stranger_becomes_a_person_without_an_account(project, manager):
    member = Membership.objects.get()
    records = [one_step("s", name="") for _ in range(3)]
    for record, annotator in zip(records, [str(member.pseudonym), "someone", None], strict=True):
        record.annotations[0].annotator = annotator
    records[0].annotations[0].finish_reason = "give_up"
    import_records(project=project, records=records, by=manager)
    stranger = Membership.objects.get(name_in_file="someone")
    assert (stranger.user, stranger.active, stranger.role) == (None, False, "annotator")
    found = Annotation.objects.order_by("id").values_list("annotator", "source__name", "reason")
    assert list(found) == [
        (member.pk, "", "not given in the imported file"), (stranger.pk, "", ""), (None, "", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"problem": " \n"}, "problem"),
        ({"positions": []}, "steps"),
        ({"positions": [[]]}, "steps"),
        ({"positions": [[Completion("")], [Completion(" ")]]}, "steps"),
        ({"positions": [[Completion("a")]] * 10_001}, "steps"),
        ({"generator": "g" * 201}, "generator"),
        ({"source_group": "g" * 201}, "source_group"),
    ],
)
def test_records_that_cannot_be_taken(project, manager, change, field):
    record = Record(**{"problem": "p", "positions": [[Completion("a")]]} | change)
    with pytest.raises(DomainError) as raised:
        import_records(project=project, records=[one_step("s"), record], by=manager)
    assert raised.value.extra == {"record": 1, "field": field}
    assert not Problem.objects.exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"source_name": "n" * 201}, "source_name"),
        ({"annotator": "n" * 201}, "annotator"),
        ({"revision": 1_000_001}, "revision"),
        ({"total_ms": -1}, "total_ms"),
        ({"first_error": 1}, "first_error"),
        ({"path": [PathPosition(0), PathPosition(0)]}, "path"),
        ({"path": [PathPosition(0, chosen=1)]}, "path[0]"),
        ({"path": [PathPosition(1, chosen=0)]}, "path[1]"),
        ({"path": [PathPosition(0, chosen=0, own_text="x")]}, "path[0]"),
        ({"path": [PathPosition(-1)]}, "path[-1]"),
        ({"path": [PathPosition(0, ratings=[Rating(0, "rated")])]}, "path[0]"),
        ({"path": [PathPosition(0, ratings=[Rating(0, "unsure", rating=1)])]}, "path[0]"),
        ({"path": [PathPosition(0, ratings=[Rating(0, "unsure")] * 2)]}, "path[0]"),
        ({"path": [PathPosition(0, dwell_ms=-5)]}, "path[0]"),
    ],
)
def test_labels_that_cannot_be_taken(project, manager, change, field):
    record = one_step("s")
    for name, value in change.items():
        setattr(record.annotations[0], name, value)
    with pytest.raises(DomainError) as raised:
        import_records(project=project, records=[record], by=manager)
    assert raised.value.extra["field"] == f"annotations[0].{field}"


def test_a_solution_keeps_what_made_it_and_where_its_outcome_is_from(project, manager):
    made = Provenance(policy="m@7", temperature=0.7, seed=3, visibility="summary", run="rl-4", settings={"top_p": 0.9})
    records = [
        Record("p", [[Completion("a")]], provenance=made, final_answer_correct=True, outcome_source="tests"),
        Record("p", [[Completion("b")]], final_answer_correct=False),
        Record("p", [[Completion("c")]]),
    ]
    import_records(project=project, records=records, by=manager)
    found = list(Solution.objects.order_by("pk"))
    assert [(one.generator, one.outcome_source) for one in found] == [("m@7", "tests"), ("", "given"), ("", "")]
    assert [one.origin for one in found] == [made, Provenance(), Provenance()]


def test_a_label_is_known_again_where_more_is_known_of_its_solution(project, manager):
    import_records(project=project, records=[one_step("s")], by=manager)
    graded = one_step("s", provenance=Provenance(run="r"), final_answer_correct=True, outcome_source="grader")
    assert import_records(project=project, records=[graded], by=manager) == Counts(duplicates=1)
    given = one_step("s", final_answer_correct=True, outcome_source="given")
    assert import_records(project=project, records=[given], by=manager).annotations == 1


def test_what_was_taken_in_is_audited(project, manager):
    import_records(project=project, records=[one_step("s")], by=manager)
    entry = AuditEntry.objects.get(action="records.import")
    assert (entry.by, entry.after) == (manager, {"accepted": 1, "duplicates": 0, "annotations": 1})
