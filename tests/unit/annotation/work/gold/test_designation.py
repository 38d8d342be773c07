"""What may be gold, who makes it so, and that it then teaches and measures nothing."""

import pytest

from annotation.core.errors import Conflict, DomainError, Forbidden, Missing
from annotation.labels.agreement.contrast import disagreed
from annotation.labels.agreement.cube import agreement_of
from annotation.labels.consensus.fits import choose_fit
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.record_stream import stream_records
from annotation.loop.rounds.runs import training_labels
from annotation.loop.selection.candidates import candidates_of
from annotation.models import AuditEntry, GoldAnswer, QueueItem, StepRating
from annotation.work.gold.designation import mark_gold, mark_references, references, retire_gold
from tests.factories import (
    AnnotationFactory,
    LabelSourceFactory,
    MembershipFactory,
    ProjectFactory,
    QueueItemFactory,
    SolutionFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return ProjectFactory()


@pytest.fixture
def reviewer(project):
    return MembershipFactory(project=project, role="reviewer")


@pytest.fixture
def solution(project):
    return SolutionFactory(project=project)


def imported(solution, kind="human", name="labeller", **fields):
    source = LabelSourceFactory(project=solution.project, kind=kind, name=name)
    return AnnotationFactory(solution=solution, annotator=None, source=source, **fields)


def mark(reviewer, annotation, **named):
    return mark_gold(by=reviewer.user, project=reviewer.project, annotation_id=annotation.pk, **named)


def found(project, **named):
    return [(one.annotation, one.kind) for one in references(project, **named)]


def test_the_word_of_staff_of_an_adjudication_and_of_people_in_a_file_may_be_gold(project, reviewer, solution):
    own = AnnotationFactory(solution=solution, annotator=reviewer)
    gold = mark(reviewer, own, accepted=[1, 0, 1, -1])
    assert (gold.annotation, gold.accepted, gold.active, gold.by) == (own, [0, 1], True, reviewer.user)
    [entry] = AuditEntry.objects.filter(action="gold.mark")
    assert (entry.before, entry.after["annotation"], entry.by) == ({}, own.pk, reviewer.user)
    for label in (
        AnnotationFactory(solution__project=project, adjudicates=True),
        imported(SolutionFactory(project=project)),
        imported(SolutionFactory(project=project), kind="consensus"),
    ):
        assert mark(reviewer, label).annotation == label


@pytest.mark.parametrize("kind", ["model_judge", "monte_carlo", "heuristic", "simulated"])
def test_a_machines_word_never_is(project, reviewer, solution, kind):
    with pytest.raises(DomainError, match="never gold"):
        mark(reviewer, imported(solution, kind=kind))
    adjudicating = imported(SolutionFactory(project=project), kind=kind, adjudicates=True)
    with pytest.raises(DomainError, match="never gold"):
        mark(reviewer, adjudicating)
    assert found(project) == []


def test_neither_is_an_annotators_word_a_replaced_one_nor_one_that_gave_up(project, reviewer, solution):
    first = AnnotationFactory(solution=solution, annotator=reviewer)
    AnnotationFactory(solution=solution, annotator=reviewer, source=first.source, revision=2)
    gave_up = AnnotationFactory(
        solution__project=project, annotator=reviewer, first_error=None, finish_reason="give_up", reason="too hard"
    )
    hidden = AnnotationFactory(solution__project=project, annotator=reviewer, lane="gold")
    for label in (AnnotationFactory(solution=solution), first, gave_up, hidden):
        with pytest.raises(DomainError) as refused:
            mark(reviewer, label)
        assert refused.value.code == "not_a_reference"


def test_who_may_and_what_is_refused(project, reviewer, solution):
    label = imported(solution, first_error=1, finish_reason="found_error")
    with pytest.raises(Forbidden):
        mark(MembershipFactory(project=project), label)
    with pytest.raises(DomainError) as refused:
        mark(reviewer, label, accepted=[3])
    assert refused.value.extra == {"field": "accepted"}
    with pytest.raises(Missing):
        mark(reviewer, imported(SolutionFactory()))
    assert not GoldAnswer.objects.exists()


def test_retiring_and_marking_again_is_told_each_time(reviewer, solution):
    gold = mark(reviewer, imported(solution))
    retire_gold(by=reviewer.user, gold=gold, reason="the reference was wrong")
    with pytest.raises(Conflict):
        retire_gold(by=reviewer.user, gold=gold)
    other = imported(solution, name="another", first_error=1, finish_reason="found_error")
    again = mark(reviewer, other)
    assert (again.pk, again.annotation, again.active) == (gold.pk, other, True)
    told = AuditEntry.objects.filter(target_type="goldanswer").order_by("pk")
    assert [entry.action for entry in told] == ["gold.mark", "gold.retire", "gold.mark"]
    assert told[1].after["reason"] == "the reference was wrong"
    assert told[2].before["active"] is False


def test_references_are_found_by_trust_and_not_where_those_alike_differ(project, reviewer):
    solutions = [SolutionFactory(project=project) for _ in range(4)]
    agreed = [imported(solutions[0], name=name) for name in ("a", "b")]
    imported(solutions[1], name="a")
    imported(solutions[1], name="b", first_error=1, finish_reason="found_error")
    settled = AnnotationFactory(solution=solutions[1], annotator=reviewer, adjudicates=True)
    imported(solutions[2], name="a")
    imported(solutions[2], name="b", first_error=1, finish_reason="found_error")
    imported(solutions[3], kind="monte_carlo")
    assert found(project) == [(agreed[-1].pk, "human"), (settled.pk, "adjudicated")]
    assert found(project, kinds=["human"]) == [(agreed[-1].pk, "human")]
    mark(reviewer, settled)
    assert found(project) == [(agreed[-1].pk, "human")], "what is gold already is not found"


def test_many_become_gold_at_once(project, reviewer):
    for domain in ("algebra", "algebra", "geometry"):
        imported(SolutionFactory(project=project, problem__domain=domain))
    chosen = list(references(project, solution__problem__domain="algebra"))
    assert mark_references(by=reviewer.user, project=project, chosen=chosen) == 2
    assert mark_references(by=reviewer.user, project=project, chosen=chosen) == 0, "a second time changes nothing"
    assert set(GoldAnswer.objects.values_list("solution__problem__domain", flat=True)) == {"algebra"}
    assert AuditEntry.objects.filter(action="gold.mark").count() == 2


def test_gold_leaves_the_queue_and_the_lanes_of_later_generations(project, reviewer, solution):
    waiting = QueueItemFactory(generation__project=project, solution=solution)
    held = QueueItemFactory(generation=waiting.generation, wanted=3, leased=1)
    for item in (waiting, held):
        mark(reviewer, imported(item.solution, kind="consensus"))
    waiting.refresh_from_db()
    held.refresh_from_db()
    assert waiting.state == QueueItem.State.RETIRED
    assert (held.state, held.wanted) == (QueueItem.State.FULL, 1), "who has it in hand finishes it, nobody else begins"
    ordinary = SolutionFactory(project=project)
    assert candidates_of(project).ids.tolist() == [ordinary.pk]


def test_gold_and_what_is_answered_in_its_lanes_teaches_and_measures_nothing(project, reviewer):
    gold, retired, ordinary = (SolutionFactory(project=project) for _ in range(3))
    mark(reviewer, AnnotationFactory(solution=gold, annotator=reviewer))
    was = mark(reviewer, AnnotationFactory(solution=retired, annotator=reviewer))
    retire_gold(by=reviewer.user, gold=was)
    for solution, lane in ((gold, "gold"), (retired, "gold"), (retired, "screening"), (ordinary, "control")):
        AnnotationFactory(solution=solution, lane=lane, first_error=1, finish_reason="found_error")
    kept = {record.problem: [label.lane for label in record.annotations] for record in stream(project)}
    assert kept == {retired.problem.text: [""], ordinary.problem.text: ["control"]}
    assert set(training_labels(project).values_list("solution", "lane")) == {(retired.pk, ""), (ordinary.pk, "control")}
    taken = {record.problem for record in stream(project, gold="included")}
    assert taken == {one.problem.text for one in (gold, retired, ordinary)}
    assert {record.problem for record in stream(project, lanes=["gold"])} == {gold.problem.text, retired.problem.text}
    assert disagreed(project) == []
    assert agreement_of(project).pairs == 0


def stream(project, **filters):
    parsed = parse_filters(filters)
    fit = choose_fit(by=None, project=project, filters=parsed)
    return list(stream_records(project=project, filters=parsed, fit=fit))


@pytest.mark.slow
def test_gold_answers_tell_how_far_each_person_can_be_trusted(project, reviewer):
    careful, careless = MembershipFactory(project=project), MembershipFactory(project=project)
    for _ in range(12):
        solution = SolutionFactory(project=project)
        reference = rated(solution, reviewer, 1, lane="")
        mark(reviewer, reference)
        rated(solution, careful, 1, lane="gold")
        looked_up = rated(solution, careless, -1, lane="gold")
        rated(solution, careless, 1, lane="gold", revision=2, source=looked_up.source)
        for person in (careful, careless):  # alone on what trains: nothing but gold tells them apart
            rated(SolutionFactory(project=project), person, 1, lane="control")
    records = stream(project, consensus="reliability")
    weights = {record.annotations[0].annotator: record.annotations[0].reliability for record in records}
    assert weights[str(careful.pseudonym)] > 0.5 > weights[str(careless.pseudonym)]


def rated(solution, member, first_error, *, lane, source=None, revision=1):
    """A label whose steps are good up to the first error."""
    label = AnnotationFactory(
        solution=solution,
        annotator=member,
        source=source or LabelSourceFactory(project=solution.project, kind="human"),
        revision=revision,
        lane=lane,
        first_error=first_error,
        finish_reason="solution" if first_error < 0 else "found_error",
    )
    for step in solution.steps.all():
        if first_error < 0 or step.position <= first_error:
            rating = -1 if step.position == first_error else 1
            StepRating.objects.create(annotation=label, step=step, state="rated", rating=rating)
    return label
