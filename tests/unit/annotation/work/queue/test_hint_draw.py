"""Hints are drawn once, at random, only where they may be, and tell nothing of a lane."""

import re
import uuid
from datetime import timedelta

import msgspec
import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.core.errors import DomainError
from annotation.loop.pool.partitions import create_partition, write_scores
from annotation.models import AuditEntry, Hint, Lease, Membership, PoolScore, Project, parse_policy
from annotation.work.claiming import claim_next
from annotation.work.labelling.drafts import save_draft
from annotation.work.labelling.payload import GivenPosition, GivenRating, SeenHint, Submission
from annotation.work.labelling.submission import submit_annotation
from annotation.work.queue import hint_draw
from annotation.work.queue.hint_draw import lot
from annotation.work.queue.leases import expire_leases, release
from prm.threshold import Threshold
from tests.factories import GenerationFactory, MembershipFactory, ModelVersionFactory, QueueItemFactory
from tests.unit.annotation.work.queue.gold_world import answer, make_gold

pytestmark = pytest.mark.django_db
THRESHOLD = 0.4


@pytest.fixture
def generation():
    return GenerationFactory(project__policy={"hints": {"share": 0.5}, "queue": {"prefetch_depth": 20}})


@pytest.fixture
def champion(generation):
    version = ModelVersionFactory(
        project=generation.project, number=1, state="champion", manifest={"threshold": {"value": THRESHOLD}}
    )
    create_partition(version)
    return version


@pytest.fixture
def annotator(generation):
    return MembershipFactory(project=generation.project)


def items(generation, count, **fields):
    return QueueItemFactory.create_batch(count, generation=generation, **fields)


def score(champion, solutions, mean=(0.9, 0.3, 0.8)):
    known = [m for m in mean if m is not None]
    spread = [None] * len(mean)
    rows = [
        PoolScore(
            model_version=champion,
            solution=solution,
            mean=list(mean),
            spread=spread,
            score=min(known) if known else None,
            unscored_steps=len(mean) - len(known),
        )
        for solution in solutions
    ]
    write_scores(champion, rows)


def claim(member):
    held = Lease.objects.filter(annotator=member, state="active").values_list("pk", flat=True)
    return claim_next(by=member.user, project=Project.objects.get(pk=member.project_id), holding=list(held)).lease


def claim_all(member):
    found = []
    while lease := claim(member):
        found.append(lease)
        answer(member, lease, first_error=-1)
    return found


def set_policy(generation, **policy):
    generation.project.policy = {"queue": {"prefetch_depth": 20}, "hints": {"share": 0.5, **policy}}
    generation.project.save()


def test_draws_both_arms_by_each_persons_own_lot_and_keeps_the_scores_in_both(generation, champion, annotator):
    score(champion, [item.solution for item in items(generation, 24)])
    other = MembershipFactory(project=generation.project)
    leases = claim_all(annotator)
    assert len(leases) == Hint.objects.count() == 24
    for lease in leases:
        assert lease.hint.shown == (lot(annotator, lease.solution_id) < 0.5)
        assert lease.hint.scores == [0.9, 0.3, 0.8]
        assert (lease.hint.verdict, lease.hint.model_version) == (1, champion)
    assert {lease.hint.shown for lease in leases} == {True, False}
    told = AuditEntry.objects.filter(action="lease.claim").values_list("target_id", "after__hint")
    assert {int(lease): shown for lease, shown in told} == {lease.pk: lease.hint.shown for lease in leases}
    arms = [[lot(who, lease.solution_id) < 0.5 for lease in leases] for who in (annotator, other)]
    assert arms[0] != arms[1], "each person has a lot of their own on each solution"


def test_lots_are_uniform():
    people = [lot(Membership(pk=who), solution) for who in range(50) for solution in range(40)]
    assert all(0 <= one < 1 for one in people)
    for share in (0.1, 0.25, 0.5):
        hinted = sum(one < share for one in people) / len(people)
        assert abs(hinted - share) < 4 * (share * (1 - share) / len(people)) ** 0.5


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [
        ([0.9, 0.8, 0.7], -1),
        ([0.3, 0.2, 0.1], 0),
        ([0.4, 0.4, 0.39], 2),
        ([0.9, 0.1, None], None),
    ],
)
def test_the_verdict_is_the_first_step_below_the_models_threshold(generation, champion, annotator, mean, verdict):
    score(champion, [items(generation, 1)[0].solution], mean)
    hint = claim(annotator).hint
    assert (hint.scores, hint.verdict) == (mean, verdict)


@pytest.mark.parametrize("mean", [[0.3] * 8, [0.9, 0.2, 0.1, 0.9], [0.9, 0.39], [1.0] * 200, [0.0] * 3])
def test_the_verdict_knows_the_length_of_the_solution(generation, champion, annotator, mean):
    champion.manifest = {"threshold": {"value": THRESHOLD, "steps": 2}}
    champion.save()
    score(champion, [items(generation, 1)[0].solution], mean)
    assert claim(annotator).hint.verdict == Threshold(THRESHOLD, 2).first_error(mean)


@pytest.mark.parametrize("lane", ["holdout", "calibration", "overlap"])
def test_no_lane_but_those_named_has_hints(generation, champion, annotator, lane):
    split = lane if lane != "overlap" else "pool"
    score(champion, [item.solution for item in items(generation, 6, lane=lane, solution__problem__split=split)])
    assert len(claim_all(annotator)) == 6
    assert not Hint.objects.exists()


@pytest.mark.parametrize("lane", ["gold", "screening"])
def test_hidden_lanes_have_hints_only_where_the_policy_says_so(generation, champion, lane):
    project = generation.project
    gold = make_gold(project, 8)
    items(generation, 8)
    score(champion, [one.solution for one in gold])
    hidden = {"gold": {"share": 0.5}} if lane == "gold" else {"screening": {"items": 2, "pass_mark": 1}}
    for lanes, expected in ((["acquisition", "control"], 0), (["gold", "screening"], 2)):
        project.policy = {"hints": {"share": 0.5, "lanes": lanes}, **hidden}
        project.save()
        newcomer = MembershipFactory(project=project)
        for _ in range(4 if lane == "gold" else 2):
            answer(newcomer, claim(newcomer))
        drawn = Hint.objects.filter(lease__annotator=newcomer)
        assert drawn.count() == expected
        assert set(drawn.values_list("lease__item__lane", flat=True)) <= {lane}


def test_who_the_policy_does_not_name_sees_none(generation, champion):
    score(champion, [item.solution for item in items(generation, 4)])
    claim_all(MembershipFactory(project=generation.project, role="reviewer"))
    assert not Hint.objects.exists()


def test_none_where_people_choose_the_way_that_the_scores_are_not_of(generation, champion, annotator):
    generation.project.scheme = {"choose_path": True}
    generation.project.save()
    score(champion, [items(generation, 1)[0].solution])
    assert claim(annotator) is not None
    assert not Hint.objects.exists()


@pytest.mark.parametrize("missing", ["score", "champion", "any_step"])
def test_without_a_stored_score_there_is_no_hint_and_no_arm(generation, champion, annotator, missing):
    solution = items(generation, 1)[0].solution
    if missing == "any_step":
        score(champion, [solution], [None, None, None])
    if missing == "champion":
        score(champion, [solution])
        champion.state = "retired"
        champion.save()
    assert claim(annotator) is not None
    assert not Hint.objects.exists()


def test_a_draw_stands_when_the_lease_runs_out_and_the_policy_changes(generation, champion, annotator):
    score(champion, [items(generation, 1)[0].solution])
    lease = claim(annotator)
    drawn = Hint.objects.values().get()
    run_out(lease)
    set_policy(generation, reveal="rated", share=0.01)
    again = claim(annotator)
    assert again.pk == lease.pk
    assert Hint.objects.values().get() == drawn


def test_work_that_was_begun_blind_stays_without_a_draw(generation, champion, annotator):
    score(champion, [items(generation, 1)[0].solution])
    set_policy(generation, share=0.0)
    lease = claim(annotator)
    save_draft(by=annotator.user, lease_id=lease.pk, version=0, body={"format": 1})
    run_out(lease)
    set_policy(generation)
    assert claim(annotator).pk == lease.pk
    assert not Hint.objects.exists()


def run_out(lease):
    Lease.objects.filter(pk=lease.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    expire_leases()


def signed_in(member):
    client = APIClient()
    client.force_login(member.user)
    return client


def ask(client, lease, position):
    return client.get(f"/api/v1/leases/{lease.pk}/hints/{position}/")


def test_a_task_names_the_positions_with_a_score_to_the_hinted_and_holds_no_score(generation, champion, annotator):
    scored = [item.solution for item in items(generation, 8)]
    score(champion, scored, mean=(0.9, 0.3, None))
    unscored = {item.solution_id for item in items(generation, 2)}
    client = signed_in(annotator)
    address = f"/api/v1/projects/{generation.project.slug}"
    for lease in (claim(annotator) for _ in range(10)):
        drawn = Hint.objects.filter(lease=lease).first()
        assert (drawn is None) == (lease.solution_id in unscored)
        holding = list(Lease.objects.exclude(pk=lease.pk).values_list("pk", flat=True))
        claimed = client.post(f"{address}/claim/", {"holding": holding}, format="json")
        task = claimed.json()["task"]
        assert task["lease"]["id"] == lease.pk
        shown = drawn is not None and drawn.shown
        assert task["hint"] == ({"reveal": "reached", "positions": [0, 1]} if shown else None)
        answer(annotator, lease)
        own = client.get(f"{address}/solutions/{lease.solution_id}/my-label/")
        assert own.json()["task"]["hint"] == task["hint"], "a revision has the hint of its first submission"
        for response in (claimed, own):
            assert not {b"0.9", b"0.3"} & set(re.findall(rb"[\d.]+", response.content))


@pytest.fixture
def alternate(monkeypatch):
    """Lots that put every other solution into the blind arm."""
    monkeypatch.setattr(hint_draw, "lot", lambda _, solution: solution % 2 / 2)


@pytest.fixture
def arms(generation, champion, annotator, alternate):
    """A lease with a hint, whose third step has no score, and a lease of the blind arm."""
    score(champion, [item.solution for item in items(generation, 2)], mean=(0.9, 0.3, None))
    return sorted((claim(annotator), claim(annotator)), key=lambda lease: lease.solution_id % 2)


def test_the_holder_of_a_lease_gets_one_score_a_request(annotator, arms):
    hinted, _ = arms
    client = signed_in(annotator)
    assert [ask(client, hinted, position).json() for position in (1, 0)] == [{"score": 0.3}, {"score": 0.9}]
    run_out(hinted)
    assert ask(client, hinted, 0).status_code == 200, "late work is still accepted"
    answer(annotator, hinted)
    assert ask(client, hinted, 0).status_code == 200, "a revision has the hint of its first submission"


def test_the_blind_arm_and_steps_without_a_score_get_the_same_refusal(generation, annotator, arms):
    hinted, blind = arms
    items(generation, 1)
    undrawn = claim(annotator)
    client = signed_in(annotator)
    refusals = [ask(client, lease, position) for lease, position in ((hinted, 2), (hinted, 3), (blind, 0))]
    refusals.append(ask(client, undrawn, 0))
    assert {(one.status_code, one.json()["code"]) for one in refusals} == {(404, "hint_not_found")}
    assert len({one.content for one in refusals}) == 1


def test_nobody_else_gets_a_score(generation, annotator, arms):
    hinted, _ = arms
    for role in ("annotator", "manager"):
        refused = ask(signed_in(MembershipFactory(project=generation.project, role=role)), hinted, 0)
        assert (refused.status_code, refused.json()["code"]) == (403, "lease_of_another")
    assert ask(APIClient(), hinted, 0).status_code in (401, 403)
    annotator.active = False
    annotator.save()
    refused = ask(signed_in(annotator), hinted, 0)
    assert (refused.status_code, refused.json()["code"]) == (403, "not_annotator")


def test_a_skipped_solution_gives_no_more_scores(annotator, arms):
    hinted, _ = arms
    release(by=annotator.user, lease_id=hinted.pk)
    refused = ask(signed_in(annotator), hinted, 0)
    assert (refused.status_code, refused.json()["code"]) == (409, "lease_ended")


def hand_in(member, lease, seen, **fields):
    submission = Submission(
        submission_id=uuid.uuid4(),
        solution=lease.solution_id,
        lease=lease.pk,
        finish_reason="solution",
        path=[
            GivenPosition(step.position, step.pk, ratings=[GivenRating(step.pk, "rated", 1)])
            for step in lease.solution.steps.order_by("position")
        ],
        hints_seen=seen,
        **fields,
    )
    return submit_annotation(by=member.user, project=member.project, submission=submission)


def test_what_was_seen_is_kept_by_the_first_submission_of_the_hinted_only(generation, champion, annotator, alternate):
    score(champion, [item.solution for item in items(generation, 8)])
    for lease in [claim(annotator) for _ in range(8)]:
        hand_in(annotator, lease, [SeenHint(1, before=-1), SeenHint(0)])
        hand_in(annotator, lease, [SeenHint(2)], based_on=1)
    assert {(hint.shown, str(hint.seen)) for hint in Hint.objects.all()} == {
        (True, "[[1, -1], [0, None]]"),
        (False, "[]"),
    }


@pytest.mark.parametrize("seen", [[SeenHint(3)], [SeenHint(-1)], [SeenHint(0), SeenHint(0)]], ids=str)
def test_refuses_hints_that_cannot_have_been(generation, annotator, seen):
    items(generation, 1)
    with pytest.raises(DomainError) as refused:
        hand_in(annotator, claim(annotator), seen)
    assert refused.value.code == "invalid_submission"
    assert refused.value.extra["field"].startswith("hints_seen[")


def test_a_submission_without_hints_keeps_the_hash_it_had():
    assert b"hints_seen" not in msgspec.json.encode(Submission(uuid.UUID(int=1), 1, "solution", []))


@pytest.mark.parametrize(
    "policy", [{"share": 0.6}, {"share": -0.1}, {"lanes": ["holdout"]}, {"roles": ["owner"]}, {"reveal": "before"}]
)
def test_a_policy_leaves_half_blind_and_the_holdout_alone(policy):
    with pytest.raises(msgspec.ValidationError):
        parse_policy({"hints": policy})


def test_nothing_is_shown_by_default(champion, generation, annotator):
    generation.project.policy = {}
    generation.project.save()
    score(champion, [items(generation, 1)[0].solution])
    claim(annotator)
    assert not Hint.objects.exists()
