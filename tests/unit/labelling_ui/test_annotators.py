"""The analysis of annotators: all of them, one of them, and what a manager does about an alarm."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.labels.annotators.batch_watch import watch
from annotation.models import AuditEntry, LabelBatch, Membership, Project, StepRating
from tests.factories import AnnotationFactory, MembershipFactory, SolutionFactory

TRUTH = [1, -1, 0, -1, 2, 1, -1, 0, 2, -1, 1, -1]


def label(solution, member, first_error: int, *, ms: int, at) -> None:
    made = AnnotationFactory(
        solution=solution,
        annotator=member,
        first_error=first_error,
        finish_reason="solution" if first_error < 0 else "found_error",
        total_ms=ms,
        submitted_at=at,
    )
    for step in solution.steps.all()[: first_error + 1 or None]:
        rating = -1 if step.position == first_error else 1
        StepRating.objects.create(annotation=made, step=step, state="rated", rating=rating)


@pytest.fixture
def crowd(project: Project) -> dict[str, Membership]:
    """Two people who read, one who is fast and right, and one who calls everything good in 300 ms."""
    names = ("ana", "ben", "fast", "careless")
    members = {name: MembershipFactory(project=project, user__username=name) for name in names}
    begin = timezone.now() - timedelta(days=10)
    for number, truth in enumerate(2 * TRUTH):
        solution = SolutionFactory(project=project, generator="gpt" if number % 2 else "llama")
        for name, member in members.items():
            seconds = {"fast": 3, "careless": 0.3}.get(name, 20)
            first_error = -1 if name == "careless" else truth
            at = begin + timedelta(hours=6 * number, seconds=seconds)
            label(solution, member, first_error, ms=int(1000 * seconds), at=at)
    return members


def test_the_careless_person_is_named_and_nobody_else(project: Project, crowd: dict[str, Membership]) -> None:
    assert [batch.annotator for batch in watch(project)] == [crowd["careless"]]
    assert watch(project) == []


def test_all_annotators_have_their_speed_and_accuracy(
    client: Client, people: dict[str, User], project: Project, crowd: dict[str, Membership]
) -> None:
    watch(project)
    client.force_login(people["reviewer"])
    page = client.get("/p/algebra/quality/annotators/")
    rows = {row.who.shown_name: row for row in page.context["people"]}
    assert rows["fast"].speed.note == "fast_right"
    assert rows["careless"].speed.right.value == pytest.approx(10 / 24)
    assert next(iter(rows)) == "careless", "alarms come first"
    assert {dot.title.partition(":")[0] for dot in page.context["scatter"].dots} == set(crowd)
    assert "the time it takes to read" in page.content.decode()


@pytest.mark.slow
def test_a_person_has_weeks_and_every_figure_opens_its_rows(
    client: Client, people: dict[str, User], project: Project, crowd: dict[str, Membership]
) -> None:
    client.force_login(people["reviewer"])
    page = client.get(f"/p/algebra/quality/annotators/{crowd['careless'].pk}/")
    weeks = [row.figures for row in page.context["weeks"]]
    assert sum(week.labels for week in weeks) == 24
    assert all(week.errors.value == 0 for week in weeks)
    assert {row.figures.measure for row in page.context["biases"]} == {"calls"}
    tables = [page.context[name] for name in ("weeks", "biases", "rejections")]
    addresses = {href for table in tables for row in table for href in (row.href, row.rest) if href}
    compared = f"annotator={crowd['careless'].pseudonym}&figure=compared"
    for address in {*addresses, f"/p/algebra/labels/?{compared}"}:
        assert client.get(address).status_code == 200
    assert client.get(f"/p/algebra/labels/?{compared}").context["listing"].page.paginator.count == 24


def test_an_alarm_is_dismissed_with_a_reason_and_does_not_come_back(
    client: Client, people: dict[str, User], project: Project, crowd: dict[str, Membership]
) -> None:
    [batch] = watch(project)
    client.force_login(people["manager"])
    overview = client.get("/p/algebra/").content.decode()
    assert f"/p/algebra/quality/annotators/{crowd['careless'].pk}/" in overview
    page = client.get(f"/p/algebra/quality/annotators/{crowd['careless'].pk}/").content.decode()
    assert "24 of 24 labels took less time than anyone needs to read the steps" in page
    reason = {"decision": "resume", "reason": "a known set of solutions"}
    client.post(f"/p/algebra/quality/{batch.pk}/decide/", reason)
    assert AuditEntry.objects.get(action="labels.resume").after["reason"] == "a known set of solutions"
    assert watch(project) == []
    assert LabelBatch.objects.get().state == "in_use"


def test_the_page_of_somebody_whose_labels_are_all_set_aside_has_no_figures(
    client: Client, people: dict[str, User], project: Project, crowd: dict[str, Membership]
) -> None:
    [batch] = watch(project)
    client.force_login(people["manager"])
    client.post(f"/p/algebra/quality/{batch.pk}/decide/", {"decision": "set_aside", "reason": "not read"})
    page = client.get(f"/p/algebra/quality/annotators/{crowd['careless'].pk}/")
    assert page.context["figures"].accepted.of == page.context["figures"].speed.right.of == 0
    assert page.context["figures"].cost.accepted == 0
    assert page.content.decode().count("No labels in use.") == len(page.context["charts"])


def test_the_api_has_the_same_figures(
    client: Client, people: dict[str, User], project: Project, crowd: dict[str, Membership]
) -> None:
    [batch] = watch(project)
    client.force_login(people["reviewer"])
    rows = {row["annotator"]: row for row in client.get("/api/v1/projects/algebra/annotators/").json()["annotators"]}
    careless = str(crowd["careless"].pseudonym)
    assert rows[careless]["alarm"] == batch.pk
    assert rows[str(crowd["fast"].pseudonym)]["note"] == "fast_right"
    report = client.get(f"/api/v1/projects/algebra/annotators/{careless}/").json()
    assert sum(week["labels"] for week in report["weeks"]) == 24
    assert {pattern["pattern"]: pattern["count"] for pattern in report["patterns"]}["none"] == 14
    assert report["likenesses"] == [], "always the first to label"
    after = client.get(f"/api/v1/projects/algebra/annotators/{crowd['ben'].pseudonym}/").json()["likenesses"]
    equal = {one["original"]: (one["shared"], one["same"]) for one in after}
    assert equal[careless] == (24, 10)
    assert equal[str(crowd["ana"].pseudonym)] == (24, 24)
    unknown = client.get(f"/api/v1/projects/algebra/annotators/{project.memberships.model().pseudonym}/")
    assert unknown.status_code == 404
    client.force_login(people["annotator"])
    assert client.get("/api/v1/projects/algebra/annotators/").status_code == 403


def test_how_much_of_somebodys_ratings_one_key_accepted_is_shown_beside_the_time_they_took(
    client: Client, people: dict[str, User], project: Project
) -> None:
    careful, fast = MembershipFactory.create_batch(2, project=project)
    for person, accepted, ms in ((careful, [], 9_000), (fast, [0, 1], 400)):
        for _ in range(12):
            steps = list((solution := SolutionFactory(project=project)).steps.all())
            for revision in (1, 2):  # the latest counts
                made = AnnotationFactory(
                    solution=solution, annotator=person, revision=revision, total_ms=3 * ms, first_error=-1
                )
                for step in steps:
                    together = revision == 2 and step.position in accepted
                    StepRating.objects.create(annotation=made, step=step, state="rated", rating=1, accepted=together)
    client.force_login(people["reviewer"])
    rows = {row.who.pk: row for row in client.get("/p/algebra/quality/annotators/").context["people"]}
    assert [(rows[one.pk].accepted.count, rows[one.pk].accepted.of) for one in (careful, fast)] == [(0, 36), (24, 36)]
    assert [rows[one.pk].speed.step_ms for one in (careful, fast)] == [9000, 400]
    page = client.get(f"/p/algebra/quality/annotators/{fast.pk}/").content.decode()
    assert "Accepted together" in page
    assert "67\xa0%" in page
    assert "24 of 36 ratings" in page
    assert (
        f'href="/p/algebra/quality/annotators/{fast.pk}/"'
        in client.get(f"/p/algebra/members/{fast.pk}/gold/").content.decode()
    )
