"""A machine annotator is a member of its own kind: it cannot sign in, only labels, and names its version."""

import pytest
from django.contrib.auth import authenticate

from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.core.membership.accounts import invite
from annotation.core.membership.machines import MachineSetup, add_machine, change_machine, setup_of
from annotation.core.membership.members import change_role
from annotation.models import AuditEntry, Lease
from annotation.work.claiming import claim_next
from annotation.work.gold.designation import mark_gold
from annotation.work.gold.screening import decide, standing
from tests.factories import (
    AnnotationFactory,
    GenerationFactory,
    MachineAnnotatorFactory,
    MembershipFactory,
    ProblemFactory,
    ProjectFactory,
    QueueItemFactory,
    SolutionFactory,
)

pytestmark = pytest.mark.django_db
SETUP = MachineSetup(model_name="qwen-72b", prompt_version="2", family="qwen", cost_per_label=0.02)


@pytest.fixture
def manager():
    return MembershipFactory(role="manager")


def add(manager, name="judge", setup=SETUP):
    return add_machine(by=manager.user, project=manager.project, name=name, setup=setup)


def test_it_has_an_account_that_nobody_signs_in_to_and_belongs_to_one_project(manager):
    machine = add(manager)
    member = machine.membership
    assert (member.name, member.kind, member.role, member.active) == ("judge", "machine", "annotator", True)
    assert setup_of(machine) == SETUP
    assert not member.user.has_usable_password()
    assert authenticate(username="judge", password="") is None
    other = MembershipFactory(role="manager")
    for role in ("annotator", "manager"):
        with pytest.raises(Conflict) as refused:
            invite(by=other.user, project=other.project, username="judge", role=role)
        assert refused.value.code == "machine_account"
    for name in ("judge", "Judge"):
        with pytest.raises(Conflict) as refused:
            add(manager, name=name)
        assert refused.value.code == "username_taken"
    with pytest.raises(DomainError) as refused:
        change_role(by=manager.user, membership=member, role="reviewer")
    assert refused.value.code == "machine_only_labels"


def test_another_prompt_or_model_is_another_source_and_the_same_one_the_same(manager):
    machine = add(manager)
    first = machine.source
    assert (first.kind, first.name, first.detail) == (
        "model_judge", "qwen-72b, prompt 2", {"model": "qwen-72b", "prompt_version": "2"}
    )  # fmt: skip
    newer = MachineSetup(model_name="qwen-72b", prompt_version="3")
    machine = change_machine(by=manager.user, machine=machine, setup=newer)
    assert (machine.source.name, machine.family, machine.cost_per_label) == ("qwen-72b, prompt 3", "qwen", None)
    assert change_machine(by=manager.user, machine=machine, setup=SETUP).source == first
    entry = AuditEntry.objects.filter(action="machine.change").order_by("pk")[0]
    assert (entry.before["prompt_version"], entry.after["prompt_version"]) == ("2", "3")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"model_name": " "}, "model_name"),
        ({"prompt_version": ""}, "prompt_version"),
        ({"family": "x" * 101}, "family"),
        ({"cost_per_label": -0.1}, "cost_per_label"),
        ({"cost_per_label": float("nan")}, "cost_per_label"),
    ],
)
def test_a_wrong_setup_is_refused_at_its_field(manager, wrong, field):
    setup = MachineSetup(**{"model_name": "m", "prompt_version": "1"} | wrong)
    with pytest.raises(DomainError) as refused:
        add(manager, setup=setup)
    assert (refused.value.code, refused.value.extra["field"]) == ("invalid_machine", field)


def test_only_managers_add_and_change_machines(manager):
    machine = add(manager)
    reviewer = MembershipFactory(project=manager.project, role="reviewer")
    with pytest.raises(Forbidden):
        add(reviewer, "other")
    with pytest.raises(Forbidden):
        change_machine(by=reviewer.user, machine=machine, setup=SETUP)


class TestItMeasuresNothing:
    """No lane that measures people or models leads to a machine, however the item waits."""

    POLICY = {"screening": {"items": 1, "pass_mark": 1}, "gold": {"share": 0.5}, "queue": {"daily_cap": 1}}

    @pytest.fixture
    def generation(self):
        return GenerationFactory(project=ProjectFactory(policy=self.POLICY))

    @pytest.fixture
    def robot(self, generation):
        return MachineAnnotatorFactory(membership__project=generation.project).membership

    def waiting(self, generation, lane, **fields):
        split = lane if lane in ("holdout", "calibration") else "pool"
        problem = ProblemFactory(project=generation.project, split=split)
        solution = SolutionFactory(project=generation.project, problem=problem)
        return QueueItemFactory(generation=generation, lane=lane, solution=solution, **fields)

    @pytest.mark.parametrize("lane", ["holdout", "calibration", "gold", "screening"])
    @pytest.mark.parametrize("waits", ["in line", "pinned", "assigned"])
    def test_it_never_gets_an_item_that_measures(self, generation, robot, lane, waits):
        assigned = {"assigned_to": robot} if waits == "assigned" else {}
        self.waiting(generation, lane, pinned=waits == "pinned", **assigned)
        claim = claim_next(by=robot.user, project=robot.project, holding=[])
        assert (claim.lease, claim.reason) == (None, "done")
        ordinary = self.waiting(generation, "acquisition", route="judge", taker="machine")
        claim = claim_next(by=robot.user, project=robot.project, holding=[])
        assert claim.lease.item == ordinary

    def test_it_gets_no_hidden_gold_and_no_screening_and_has_no_cap(self, generation, robot):
        manager = MembershipFactory(project=generation.project, role="manager")
        reference = AnnotationFactory(solution__project=generation.project, annotator=manager)
        mark_gold(by=manager.user, project=generation.project, annotation_id=reference.pk)
        items = [self.waiting(generation, "control", route="judge", taker="machine") for _ in range(2)]
        held = []
        for _ in items:
            held.append(claim_next(by=robot.user, project=robot.project, holding=held).lease.pk)
        assert set(Lease.objects.filter(annotator=robot).values_list("item__lane", flat=True)) == {"control"}
        assert standing(robot) is None
        with pytest.raises(DomainError) as refused:
            decide(by=manager.user, membership=robot, outcome="again")
        assert refused.value.code == "machine_only_labels"
