"""Practice explains itself, is no label, and shares no solution with hidden gold or ordinary work."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from django.db import DatabaseError, connection, transaction

from annotation.core.errors import Conflict, DomainError, Forbidden, Missing
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.record_stream import stream_records
from annotation.loop.rounds.runs import training_labels
from annotation.loop.selection.candidates import candidates_of
from annotation.models import Annotation, AuditEntry, GoldAnswer, PracticeAnswer, StepRating
from annotation.work.gold.designation import hidden_gold, mark_gold, references, retire_gold
from annotation.work.gold.gold_answers import accuracy_by_person, wear_of
from annotation.work.gold.hidden_gold import fresh_gold
from annotation.work.labelling.payload import GivenPosition, GivenRating, GivenSpan, Submission
from annotation.work.practice.answering import answer_practice, practice_set
from annotation.work.queue.managing import queue_solution
from tests.factories import (
    AnnotationFactory,
    GenerationFactory,
    LabelSourceFactory,
    MembershipFactory,
    QueueItemFactory,
    SolutionFactory,
)
from tests.unit.annotation.work.queue.gold_world import claim, make_gold, work
from tests.waiting import is_waited_for, until

pytestmark = pytest.mark.django_db


@pytest.fixture
def generation():
    return GenerationFactory(project__policy={"gold": {"share": 0.5}})


@pytest.fixture
def project(generation):
    return generation.project


@pytest.fixture
def annotator(project):
    return MembershipFactory(project=project)


@pytest.fixture
def reviewer(project):
    return MembershipFactory(project=project, role="reviewer")


@pytest.fixture
def gold(project, reviewer):
    """For practice: three steps, of which the second is wrong."""
    return make_practice(project, reviewer, explanation="  Count again. ")


def make_practice(project, reviewer, *, first_error=1, **named):
    source = LabelSourceFactory(project=project, kind="human", name="expert")
    label = AnnotationFactory(
        solution=SolutionFactory(project=project),
        annotator=None,
        source=source,
        first_error=first_error,
        finish_reason="solution" if first_error < 0 else "found_error",
    )
    for step in label.solution.steps.all():
        if first_error < 0 or step.position <= first_error:
            bad = step.position == first_error
            StepRating.objects.create(
                annotation=label,
                step=step,
                state="rated",
                rating=-1 if bad else 1,
                comment="2 + 2 is 4" if bad else "",
                error_type="slip" if bad else "",
            )
    return mark_gold(by=reviewer.user, project=project, annotation_id=label.pk, practice=True, **named)


def given(gold, *, first_error=1, **fields):
    """A submission: good up to the first error, None for giving up."""
    steps = list(gold.solution.steps.order_by("position"))
    read = [] if first_error is None else steps if first_error < 0 else steps[: first_error + 1]
    finish = {None: "give_up", -1: "solution"}.get(first_error, "found_error")
    return Submission(
        submission_id=uuid.uuid4(),
        solution=gold.solution_id,
        finish_reason=finish,
        reason="too hard" if first_error is None else "",
        path=[
            GivenPosition(
                position=step.position,
                chosen=None if step.position == first_error else step.pk,
                ratings=[GivenRating(step=step.pk, state="rated", rating=-1 if step.position == first_error else 1)],
            )
            for step in read
        ],
        **fields,
    )


def practise(member, gold, **said):
    return answer_practice(by=member.user, project=member.project, submission=given(gold, **said))


@pytest.mark.parametrize(
    ("said", "outcome"), [(1, "right"), (0, "too_early"), (2, "too_late"), (-1, "missed"), (None, "gave_up")]
)
def test_an_answer_is_explained_at_once(annotator, gold, said, outcome):
    found = practise(annotator, gold, first_error=said).explanation
    assert (found.outcome, found.answer, found.reference, found.explanation) == (outcome, said, 1, "Count again.")
    first, second = found.steps[:2]
    assert (first.reference, second.reference) == ("good", "bad")
    assert (second.comment, second.error_type) == ("2 + 2 is 4", "slip")
    expected = {None: None, 0: None, 1: "bad"}.get(said, "good")
    assert second.answer == expected


def test_what_nobody_speaks_of_is_left_out(annotator, gold):
    assert [one.position for one in practise(annotator, gold).explanation.steps] == [0, 1]
    assert [one.position for one in practise(annotator, gold, first_error=-1).explanation.steps] == [0, 1, 2]


def test_an_accepted_or_near_first_error_is_right_as_on_hidden_gold(project, annotator, reviewer):
    practice = make_practice(project, reviewer, accepted=[-1])
    assert practise(annotator, practice, first_error=-1).explanation.outcome == "right"
    project.policy = {"gold": {"tolerance": 1}}
    project.save()
    annotator.project = project
    assert practise(annotator, practice, first_error=2).explanation.outcome == "right"


def test_it_is_kept_as_no_annotation_and_measures_nobody(project, annotator, gold):
    before = Annotation.objects.count()
    practise(annotator, gold, first_error=-1)
    practise(annotator, gold)
    assert Annotation.objects.count() == before
    assert accuracy_by_person(project) == {}
    assert not training_labels(project).exists()
    assert list(stream_records(project=project, filters=parse_filters({}))) == []
    assert [(place.solution, place.answered, place.outcome) for place in practice_set(annotator)] == [
        (gold.solution_id, 2, "right")
    ]
    [first, _] = AuditEntry.objects.filter(action="practice.answer").order_by("pk")
    assert (first.by, first.after["outcome"]) == (annotator.user, "missed")


def test_the_same_answer_again_is_the_same_answer(annotator, gold):
    submission = given(gold)
    first, again = (
        answer_practice(by=annotator.user, project=annotator.project, submission=submission) for _ in range(2)
    )
    assert (first.created, again.created, again.explanation) == (True, False, first.explanation)
    assert PracticeAnswer.objects.count() == 1
    changed = msgspec.structs.replace(submission, total_ms=5)
    other = MembershipFactory(project=annotator.project)
    for person, sent in ((annotator, changed), (other, submission)):
        with pytest.raises(Conflict) as refused:
            answer_practice(by=person.user, project=person.project, submission=sent)
        assert refused.value.code == "submission_conflict"


def test_an_answer_never_changes(annotator, gold):
    answer = practise(annotator, gold).answer
    for change in (lambda: answer.save(), lambda: answer.delete()):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_who_may_and_what_is_refused(project, annotator, gold):
    hidden = make_gold(project, 1)[0]
    with pytest.raises(Missing):
        practise(annotator, hidden)
    with pytest.raises(Forbidden):
        practise(replace_project(MembershipFactory(), project), gold)
    with pytest.raises(DomainError, match="must be rated"):
        answer_practice(
            by=annotator.user,
            project=project,
            submission=msgspec.structs.replace(given(gold, first_error=-1), path=[]),
        )
    assert not PracticeAnswer.objects.exists()


@pytest.mark.parametrize("span", [GivenSpan(0, 10_000), GivenSpan(1, 1), GivenSpan(0, 1, "typo")], ids=str)
def test_a_marked_stretch_that_is_not_there_is_refused_as_in_real_work(annotator, gold, span):
    said = given(gold)
    right, wrong = said.path
    marked = msgspec.structs.replace(
        wrong, ratings=[msgspec.structs.replace(wrong.ratings[0], spans=[GivenSpan(0, 1), span])]
    )
    submission = msgspec.structs.replace(said, path=[right, marked])
    with pytest.raises(DomainError) as refused:
        answer_practice(by=annotator.user, project=annotator.project, submission=submission)
    assert refused.value.extra["field"].startswith("path[1].ratings[0].spans[1]")
    assert not PracticeAnswer.objects.exists()


def replace_project(member, project):
    member.project = project
    return member


def test_practice_and_hidden_gold_share_no_solution(project, annotator, reviewer, gold):
    hidden = make_gold(project, 2)
    assert {row.pk for row in fresh_gold(annotator)} == {row.pk for row in hidden} == set(ids(hidden_gold(project)))
    assert [place.solution for place in practice_set(annotator)] == [gold.solution_id]
    assert set(wear_of(project)) == {row.solution_id for row in hidden}


def ids(rows):
    return rows.values_list("pk", flat=True)


def test_a_project_with_practice_alone_gives_no_hidden_gold(generation, annotator, gold):
    QueueItemFactory.create_batch(4, generation=generation)
    assert work(annotator, 4) == ["control"] * 4


def test_hidden_gold_that_goes_to_practice_measures_nobody_any_more(generation, annotator, reviewer):
    project = generation.project
    [hidden] = make_gold(project, 1)
    QueueItemFactory.create_batch(3, generation=generation)
    assert "gold" in work(annotator, 4)
    assert accuracy_by_person(project)
    mark_gold(by=reviewer.user, project=project, annotation_id=hidden.annotation_id, practice=True)
    assert accuracy_by_person(project) == {}
    assert [place.solution for place in practice_set(annotator)] == [hidden.solution_id]
    [entry] = AuditEntry.objects.filter(action="gold.mark")
    assert (entry.before["practice"], entry.after["practice"]) == (False, True)


def test_what_somebody_practised_on_is_neither_hidden_nor_asked_about_again(project, annotator, reviewer, gold):
    manager = MembershipFactory(project=project, role="manager").user
    practise(annotator, gold)
    with pytest.raises(Conflict, match="know its answer"):
        mark_gold(by=reviewer.user, project=project, annotation_id=gold.annotation_id)
    retire_gold(by=reviewer.user, gold=gold)
    ordinary = SolutionFactory(project=project)
    assert candidates_of(project).ids.tolist() == [ordinary.pk]
    assert list(references(project)) == []
    with pytest.raises(Conflict, match="know its answer"):
        queue_solution(by=manager, project=project, solution=gold.solution)


def test_practice_that_nobody_has_seen_may_be_hidden_after_all(project, reviewer, gold):
    again = mark_gold(by=reviewer.user, project=project, annotation_id=gold.annotation_id)
    assert (again.practice, GoldAnswer.objects.get() == again) == (False, True)
    retire_gold(by=reviewer.user, gold=again)
    assert candidates_of(project).ids.tolist() == [gold.solution_id]


def test_whoever_is_screened_may_practise_first(generation, annotator, gold):
    project = generation.project
    project.policy = {"screening": {"items": 1, "pass_mark": 1}}
    project.save()
    annotator.project = project
    make_gold(project, 1)
    assert practise(annotator, gold).explanation.outcome == "right"
    assert claim(annotator).lease.item.lane == "screening"


@pytest.mark.django_db(transaction=True)
def test_gold_that_somebody_practises_on_at_the_same_time_is_not_hidden(annotator, reviewer, gold):
    def hide():
        try:
            return mark_gold(by=reviewer.user, project=gold.project, annotation_id=gold.annotation_id)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            practise(annotator, gold)
            hidden = pool.submit(hide)
            until(lambda: hidden.done() or is_waited_for())
        with pytest.raises(Conflict, match="know its answer"):
            hidden.result()
