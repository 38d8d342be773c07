"""When a person follows the judges, and what becomes of the item's places."""

import pytest

from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.models import AuditEntry, Lease, QueueItem
from annotation.models.generation import Recipe
from annotation.models.routing_policy import RouteRule
from annotation.work.claiming import claim_next
from annotation.work.labelling.handing_over import JudgeAnswer, reason_for
from annotation.work.queue.leases import heartbeat
from annotation.work.queue.managing import change_items, hand_over_waiting
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.unit.annotation.work.labelling.test_submission import all_good, claim, expire, submit

GOOD, AT_2 = JudgeAnswer(-1), JudgeAnswer(2)


@pytest.mark.parametrize(
    ("fields", "answers", "error", "reason"),
    [
        ({}, [GOOD], None, None),
        ({}, [GOOD], 0.1, None),
        ({}, [JudgeAnswer(None)], 0.0, "gave_up"),
        ({}, [JudgeAnswer(-1, unsure=1)], 0.0, "unsure"),
        ({"unsure_steps": 2}, [JudgeAnswer(-1, unsure=1)], 0.0, None),
        ({}, [GOOD, AT_2], None, "judges_differ"),
        ({"judges_differ": False}, [GOOD, AT_2], None, None),
        ({}, [GOOD], 0.6, "model_against"),
        ({}, [AT_2], 0.4, "model_against"),
        ({"model_against": None, "model_doubt": None}, [AT_2], 0.4, None),
        ({"model_against": 0.7}, [GOOD], 0.6, "model_doubt"),
        ({}, [AT_2], 0.9, None),
        ({}, [GOOD], 0.25, "model_doubt"),
        ({"model_doubt": 0.6}, [GOOD], 0.25, None),
    ],
)
def test_the_reason_follows_the_rule(fields, answers, error, reason):
    assert reason_for(RouteRule(route="judge_then_person", **fields), answers, error) == reason


@pytest.fixture
def world(db):
    """A project with one item for a judge, and its machine and person."""
    recipe = Recipe(routes=[RouteRule(route="judge"), RouteRule(route="judge_then_person")])
    item = QueueItemFactory(
        generation=GenerationFactory(recipe=recipe), lane="acquisition", route="judge", taker="machine", rule=0
    )
    machine, person = (MembershipFactory(project=item.project, kind=kind) for kind in ("machine", "person"))
    return item, machine, person


def update(item, **fields):
    QueueItem.objects.filter(pk=item.pk).update(**fields)


def places(item):
    item.refresh_from_db()
    return item.taker, item.state, item.wanted, item.done, item.handed_over


def test_a_judge_alone_completes_its_item_and_no_person_gets_it(world):
    item, machine, person = world
    assert claim_next(by=person.user, project=item.project, holding=[]).reason == "done"
    assert submit(machine, all_good(item.solution, claim(machine))).annotation.counted
    assert places(item) == ("machine", "done", 1, 1, "")
    assert claim(person) is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"audited": True}, "audit"),
        ({"route": "judge_then_person", "rule": 1, "predicted_error": 0.9}, "model_against"),
        ({"route": "judge_then_person", "rule": 1, "predicted_error": 0.9, "audited": True}, "model_against"),
        ({"route": "judge_then_person", "rule": 1, "predicted_error": 0.0, "audited": True}, "audit"),
    ],
)
def test_an_audit_or_a_doubtful_answer_gives_one_place_to_a_person(world, fields, reason):
    item, machine, person = world
    update(item, **fields)
    submit(machine, all_good(item.solution, claim(machine)))
    assert places(item) == ("person", "ready", 2, 1, reason)
    assert AuditEntry.objects.get(action="queue.hand_over").after == {"reason": reason}
    assert (
        claim_next(
            by=MembershipFactory(project=item.project, kind="machine").user, project=item.project, holding=[]
        ).lease
        is None
    )
    label = submit(person, all_good(item.solution, claim(person))).annotation
    assert (label.source.kind, label.counted) == ("human", True)
    assert places(item) == ("person", "done", 2, 2, reason)


def test_all_judges_of_the_rule_answer_first(world):
    item, machine, _person = world
    update(item, wanted=2, audited=True)
    other = MembershipFactory(project=item.project, kind="machine")
    submit(machine, all_good(item.solution, claim(machine)))
    assert places(item) == ("machine", "ready", 2, 1, "")
    submit(other, all_good(item.solution, claim(other)))
    assert places(item) == ("person", "ready", 3, 2, "audit")


def test_a_manager_hands_waiting_items_to_people_and_a_late_machine_takes_no_place(world):
    item, machine, person = world
    manager = MembershipFactory(project=item.project, role="manager")
    lease = claim(machine)
    assert hand_over_waiting(by=manager.user, project=item.project) == 0  # a machine holds it
    expire(lease)
    with pytest.raises(Forbidden):
        hand_over_waiting(by=person.user, project=item.project)
    assert hand_over_waiting(by=manager.user, project=item.project) == 1
    assert places(item) == ("person", "ready", 1, 0, "manager")
    with pytest.raises(Conflict):
        heartbeat(by=machine.user, lease_id=lease.pk)
    assert not submit(machine, all_good(item.solution, lease)).annotation.counted
    assert places(item) == ("person", "ready", 1, 0, "manager")
    submit(person, all_good(item.solution, claim(person)))
    assert places(item) == ("person", "done", 1, 1, "manager")
    assert not Lease.objects.filter(state="active").exists()


def test_items_are_assigned_to_people_only_and_not_while_they_wait_for_a_machine(world):
    item, machine, person = world
    manager = MembershipFactory(project=item.project, role="manager")
    for to, taker in ((person, "machine"), (machine, "person")):
        update(item, taker=taker)
        with pytest.raises(DomainError) as refused:
            change_items(by=manager.user, project=item.project, change="hand", items=[item.pk], to=to)
        assert refused.value.code == "not_people_s"
