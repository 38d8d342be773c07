"""Two tabs and prefetching do not get past a screening: really in processes, at the same moment."""

import time

import pytest
from rest_framework.test import APIClient

from annotation.core.membership.tokens import issue_token
from annotation.models import Annotation, AuditEntry, Lease, ScreeningDecision
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.flows.test_claim_concurrency import finished, in_processes
from tests.unit.annotation.work.queue.gold_world import make_gold

ITEMS, PASS_MARK, TABS = 4, 3, 3

LABELLING = ("claim", "submit")
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def generation():
    screening = {"items": ITEMS, "pass_mark": PASS_MARK}
    generation = GenerationFactory(
        project__policy={"screening": screening, "gold": {"share": 0.25}, "queue": {"prefetch_depth": 2}}
    )
    make_gold(generation.project, 12, first_error=-1)
    QueueItemFactory.create_batch(14, generation=generation)
    return generation


@pytest.mark.parametrize(("right", "outcome"), [(True, "passed"), (False, "failed")])
def test_three_tabs_of_one_person_get_one_screening_and_nothing_else_before_it_is_decided(generation, right, outcome):
    person = MembershipFactory(project=generation.project)
    secrets = [issue_token(by=person.user, name="tab", scopes=LABELLING, for_person=True)[1] for _ in range(TABS)]
    reasons = in_processes(tab, [(generation.project.slug, secret, right) for secret in secrets])

    answers = Annotation.objects.filter(annotator=person).order_by("pk")
    screened = answers.filter(lane="screening")
    assert screened.count() == ITEMS
    [decision] = ScreeningDecision.objects.all()
    assert (decision.outcome, decision.given) == (outcome, ITEMS)
    decided = AuditEntry.objects.get(action="member.screen")
    before = AuditEntry.objects.filter(action="lease.claim", pk__lt=decided.pk).values_list("target_id", flat=True)
    given_before = Lease.objects.filter(pk__in=[int(pk) for pk in before])
    assert set(given_before.values_list("item__lane", flat=True)) == {"screening"}
    leases = Lease.objects.filter(annotator=person)
    assert leases.count() == leases.values("solution").distinct().count()
    if outcome == "failed":
        assert answers.count() == ITEMS
        assert [one["reason"] for one in reasons] == ["screening_failed"] * TABS
    else:
        given = [lane for lane in answers.values_list("lane", flat=True) if lane != "screening"]
        assert given.count("control") == 14
        assert abs(given.count("gold") - len(given) * 0.25) <= 1


def tab(slug, secret, right):
    """Claims and submits until nothing is left; returns the last reason."""
    client = APIClient(headers={"Authorization": f"Token {secret}"})
    holding = []
    while True:
        claim = client.post(f"/api/v1/projects/{slug}/claim/", {"holding": holding}).json()
        if claim["task"] is None and claim["reason"] in ("done", "screening_failed") and not holding:
            return {"reason": claim["reason"]}
        if claim["task"] is None and not holding:
            time.sleep(0.02)  # another tab has all that this person may hold
            continue
        if claim["task"] is not None and claim["task"]["lease"]["id"] not in holding:
            holding.append(claim["task"]["lease"]["id"])
            tasks[holding[-1]] = claim["task"]
            if len(holding) < 2:
                continue  # fetch one ahead
        task = tasks[holding.pop(0)]
        submission = finished(task) if right else wrong(task)
        # 409: another tab was given the same solution, and was faster.
        assert client.post(f"/api/v1/projects/{slug}/annotations/", submission).status_code in (201, 409)


tasks: dict = {}


def wrong(task):
    """An error at the first step, where the gold has none."""
    submission = finished(task)
    first = submission["path"][0]
    first["chosen"], first["ratings"][0]["rating"] = None, -1
    return submission | {"path": [first], "finish_reason": "found_error"}
