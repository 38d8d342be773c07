"""Sixteen processes claim and submit at once: no solution twice, no item over wanted, nothing lost or doubled."""

import multiprocessing
import random
import time
import traceback
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.db.models import Count, F, Q
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.core.membership.tokens import issue_token
from annotation.models import Annotation, AuditEntry, Draft, Lease, QueueItem
from annotation.models.generation import Recipe
from annotation.models.routing_policy import RouteRule
from annotation.work.queue.items import Selection, replace_items
from annotation.work.queue.leases import expire_leases
from tests.factories import GenerationFactory, MembershipFactory, ProblemFactory, QueueItemFactory, SolutionFactory
from tests.waiting import PATIENCE

LABELLING = ("claim", "submit")
PEOPLE = 12
WITH_TWO_TABS = 4  # so sixteen processes
BESIDE_ANOTHER_TAB = {*range(WITH_TWO_TABS), *range(PEOPLE, PEOPLE + WITH_TWO_TABS)}  # their seeds
SOLUTIONS = 48

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def generation():
    generation = GenerationFactory(project__policy={"queue": {"prefetch_depth": 2}})
    for number in range(SOLUTIONS):
        QueueItemFactory(generation=generation, rank=number, wanted=1 + number % 3)
    return generation


def test_sixteen_processes_claim_and_submit_at_once(generation):
    reports = in_processes(work, [(generation.project.slug, *tab) for tab in tabs(generation.project)])

    check_the_books(generation.project, reports)
    items = QueueItem.objects.filter(project=generation.project)
    assert not items.exclude(state="done", leased=0, done=F("wanted")).exists(), "all that was wanted is done"
    assert not Lease.objects.exclude(state__in=["submitted", "released"]).exists(), "and nothing is in hand"


def test_a_generation_may_be_replaced_meanwhile(generation):
    project = generation.project
    later = [SolutionFactory(project=project) for _ in range(30)]
    jobs = [(project.slug, *tab) for tab in tabs(project)]
    reports = in_processes(work, jobs, meanwhile=lambda: replace(generation, later))

    check_the_books(project, reports)
    assert not QueueItem.objects.filter(state__in=["ready", "full"]).exists()
    assert QueueItem.objects.exclude(generation=generation).filter(state="done").count() == len(later)


def test_eight_machines_hand_items_to_eight_people_while_all_claim_and_submit():
    recipe = Recipe(routes=[RouteRule(route="judge"), RouteRule(route="judge_then_person")])
    generation = GenerationFactory(recipe=recipe, project__policy={"queue": {"prefetch_depth": 2}})
    for number in range(SOLUTIONS):
        rule = number % 2
        QueueItemFactory(
            generation=generation,
            rank=number,
            wanted=1 + number // 2 % 2,
            lane="acquisition",
            route=recipe.routes[rule].route,
            rule=rule,
            taker="machine",
            audited=number % 3 == 0,
            predicted_error=0.9 if number % 4 == 1 else 0.1,  # every judge says that there is no error
        )
    members = [MembershipFactory(project=generation.project, kind=kind) for kind in ("machine", "person") * 8]
    secrets = [issue_token(by=member.user, name="tab", scopes=LABELLING, for_person=True)[1] for member in members]
    reports = in_processes(work, [(generation.project.slug, secret, seed) for seed, secret in enumerate(secrets)])

    check_the_books(generation.project, reports)
    counted = Annotation.objects.filter(counted=True)
    for item in QueueItem.objects.filter(project=generation.project):
        by_people = counted.filter(item=item, annotator__kind="person").count()
        follows = item.audited or (item.rule == 1 and item.predicted_error == 0.9)
        assert (item.state, item.leased, by_people, item.taker) == (
            "done",
            0,
            int(follows),
            "person" if follows else "machine",
        )
        assert item.done == item.wanted == 1 + item.rank // 2 % 2 + follows


@pytest.mark.parametrize(
    ("rule", "most"), [({"daily_cap": 5}, 5), ({"problem_again": "never"}, 4), ({"cool_down_minutes": 60}, 4)]
)
def test_a_person_s_tabs_together_keep_the_project_s_rules(rule, most):
    generation = GenerationFactory(project__policy={"queue": {"prefetch_depth": 3, **rule}})
    for _ in range(4):
        problem = ProblemFactory(project=generation.project)
        for _ in range(3):
            QueueItemFactory(generation=generation, solution=SolutionFactory(project=problem.project, problem=problem))
    person = MembershipFactory(project=generation.project)
    secret = issue_token(by=person.user, name="tab", scopes=LABELLING, for_person=True)[1]
    reports = in_processes(work_by_the_rules, [(generation.project.slug, secret)] * 3)

    mine = Annotation.objects.filter(annotator=person)
    assert mine.count() == sum(reports) == most
    if "daily_cap" not in rule:
        assert mine.values("solution__problem").distinct().count() == most, "one of each problem"


def tabs(project):
    """(secret, seed) of each process: twelve people, four of them in two tabs."""
    secrets = [
        issue_token(by=MembershipFactory(project=project).user, name="tab", scopes=LABELLING, for_person=True)[1]
        for _ in range(PEOPLE)
    ]
    return [(secret, seed) for seed, secret in enumerate(secrets + secrets[:WITH_TWO_TABS])]


@transaction.atomic
def replace(generation, solutions):
    """At one moment, as the service does it: there is never no generation."""
    generation.state = "retired"
    generation.save()
    new = GenerationFactory(project=generation.project, number=generation.number + 1)
    replace_items(generation=new, selections=[Selection(solution_id=s.pk, lane="acquisition") for s in solutions])


def check_the_books(project, reports):
    sent = Counter(submission for report in reports for submission in report["sent"])
    kept = {str(pk) for pk in Annotation.objects.values_list("submission_id", flat=True)}
    assert kept == set(sent), "everything that was acknowledged is there, and nothing else"
    assert {status for report in reports for status in report["statuses"]} == {(200, 201)}, "once created, once found"
    for item in QueueItem.objects.annotate(
        filled=Count("annotations", filter=Q(annotations__counted=True), distinct=True),
        held=Count("leases", filter=Q(leases__state="active"), distinct=True),
    ):
        assert item.done == item.filled <= item.wanted
        assert item.leased == item.held
    counted = Annotation.objects.filter(counted=True).values("annotator", "solution").annotate(times=Count("pk"))
    assert not counted.filter(times__gt=1).exists(), "nobody counts twice on a solution"
    assert AuditEntry.objects.filter(action="annotation.submit").count() == len(kept)
    assert not Draft.objects.exclude(lease__state="expired").exists()


def in_processes(target, jobs, meanwhile=lambda: None):
    """What each process reports; a child inherits the settings of the test database and connects by itself."""
    assert APIClient().get("/api/v1/nothing/").status_code == 404  # loads the application before it is forked
    connections.close_all()
    # Sixteen clients and the server share the cores: they may wait long for a connection.
    connections.settings["default"]["OPTIONS"]["connect_timeout"] = "60"
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    children = [fork.Process(target=_run, args=(target, job, results), daemon=True) for job in jobs]
    for child in children:
        child.start()
    meanwhile()
    reports = []
    try:
        for _ in children:
            reports.append(results.get(timeout=PATIENCE))
            assert not isinstance(reports[-1], str), reports[-1]
    finally:
        for child in children:
            child.terminate() if len(reports) < len(children) else child.join()
    return reports


def _run(target, job, results):
    try:
        results.put(target(*job))
    except BaseException:
        results.put(traceback.format_exc())
    finally:
        connections.close_all()


def work(slug, secret, seed):
    """One tab: claims until nothing is left or can follow; each submission is sent twice, some at the same moment.

    Half of the submissions claim the next task.
    """
    chance = random.Random(seed)
    client = APIClient(headers={"Authorization": f"Token {secret}"})
    report = {"sent": [], "statuses": []}
    finished_with = set()
    claim = None
    while True:
        claim = claim or client.post(f"/api/v1/projects/{slug}/claim/", {"holding": []}).json()
        task, claimed, claim = claim["task"], claim, None
        if task is None:
            waiting = QueueItem.objects.filter(project__slug=slug, state__in=["ready", "full"], taker="machine")
            if claimed["reason"] == "done" and not waiting.exists():
                return report
            time.sleep(0.05)
            continue
        lease, solution = task["lease"]["id"], task["solution"]["id"]
        assert solution not in finished_with, "a solution came back that was submitted or skipped"
        finished_with.add(solution)
        if chance.random() < 0.05:
            client.post(f"/api/v1/leases/{lease}/release/", {"reason": "skip"})
            continue
        client.put(f"/api/v1/leases/{lease}/draft/", {"version": 0, "body": {"seed": seed}})
        if chance.random() < 0.1:
            # The laptop was closed for too long: the sweep takes the lease while the submission is on its way.
            Lease.objects.filter(pk=lease, state="active").update(expires_at=timezone.now() - timedelta(minutes=1))
        if chance.random() < 0.3:
            expire_leases()
        submission = finished(task) | ({"holding": []} if chance.random() < 0.5 else {})
        answers = send_twice(client, slug, submission, at_once=chance.random() < 0.3)
        while answers[0].status_code == 409:
            # The person's other tab was faster. Either is chosen: this one is sent again as the newest, or it is not.
            told = answers[0].json()
            assert (told["code"], told["extra"]["submitted"]["comment"]) == ("revision_conflict", "as it came")
            if chance.random() < 0.5:
                break
            submission["based_on"] = told["extra"]["revision"]
            answers = send_twice(client, slug, submission, at_once=False)
        else:
            receipts = [answer.json() for answer in answers]
            claim, again = (receipt.pop("next", None) for receipt in receipts)
            assert receipts[0] == receipts[1]
            assert len({lease_of(claim), lease_of(again)} - {None}) <= 1 or seed in BESIDE_ANOTHER_TAB
            report["sent"].append(submission["submission_id"])
            report["statuses"].append(tuple(sorted(answer.status_code for answer in answers)))


def lease_of(claim):
    return claim and claim["task"] and claim["task"]["lease"]["id"]


def work_by_the_rules(slug, secret):
    """One tab: claims, holds what it got for a moment and hands it in, until there is nothing for the person."""
    client = APIClient(headers={"Authorization": f"Token {secret}"})
    sent = 0
    while task := (claim := client.post(f"/api/v1/projects/{slug}/claim/", {"holding": []}).json())["task"]:
        time.sleep(0.05)
        answer = client.post(f"/api/v1/projects/{slug}/annotations/", finished(task))
        sent += answer.status_code == 201
    assert claim["reason"] in {"cap_reached", "cooling_down", "done"}, claim
    return sent


def send_twice(client, slug, submission, *, at_once):
    def send(_):
        try:
            return client.post(f"/api/v1/projects/{slug}/annotations/", submission)
        finally:
            if at_once:
                connection.close()

    if at_once:
        with ThreadPoolExecutor(2) as threads:
            return list(threads.map(send, range(2)))
    return [send(0), send(1)]


def finished(task):
    path = [
        {
            "position": at["position"],
            "chosen": at["alternatives"][0]["id"],
            "ratings": [{"step": at["alternatives"][0]["id"], "state": "rated", "rating": 1}],
        }
        for at in task["solution"]["steps"]
    ]
    return {
        "submission_id": str(uuid.uuid4()),
        "solution": task["solution"]["id"],
        "lease": task["lease"]["id"],
        "finish_reason": "solution",
        "comment": "as it came",
        "path": path,
    }
