"""The serving page and the score log."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import ServedScore
from annotation.serving.journal import with_words
from annotation.serving.traffic import forget_old_scores, traffic_of
from tests.unit.labelling_ui.settings_form import save_beside_another

pytestmark = pytest.mark.django_db


def served(project, *, ago=timedelta(minutes=1), **fields):
    told = {
        "request": uuid.uuid4(),
        "project": project,
        "route": "score",
        "aggregate": "product",
        "text_hash": "a" * 64,
        "text": ["What is 2 + 2?", [["It is 4.", "reasoning"]]],
        "mean": [0.9],
        "spread": [0.1],
        "score": 0.9,
        "first_suspicious": -1,
        "uncertainty": 0.1,
        "seconds": 0.02,
        "asked_at": timezone.now() - ago,
    }
    return ServedScore.objects.create(**{**told, **fields})


def test_traffic_counts_requests_and_solutions_and_shares_only_known_flags(project):
    first = served(project, abstained=True, seconds=0.1)
    served(project, request=first.request, index=1, abstained=False, seconds=0.1)
    served(project, abstained=None, seconds=0.3)
    served(project, failure="timed_out", mean=[], spread=[], score=None, seconds=20)
    hours = traffic_of(project, bins=24, size="hour")
    assert len(hours) == 24
    busy = [hour for hour in hours if hour.requests]
    assert sum(hour.requests for hour in busy) == 3
    assert sum(hour.solutions for hour in busy) == 3
    assert sum(hour.failed for hour in busy) == 1
    if len(busy) == 1:  # else the hour has just struck
        assert busy[0].median == pytest.approx(0.2)
        assert (busy[0].abstained, busy[0].out_of_domain) == (0.5, None)


def test_pages_show_what_was_served(client, project, people):
    version = project.model_versions.get(state="champion")
    row = served(project, model_version=version, model_number=version.number, out_of_domain=True)
    client.force_login(people["manager"])
    page = client.get("/p/algebra/serving/").content.decode()
    assert '"project": "algebra"' in page
    assert [said in page for said in ("1 request,", "1 solution scored,", "0 requests failed")] == [True] * 3
    assert f"Model {version.number}" in page
    found = client.get(f"/p/algebra/serving/log/?q={row.request}").content.decode()
    assert f"/p/algebra/serving/log/{row.pk}/" in found
    assert "out of domain" in found
    assert "No score matches" in client.get("/p/algebra/serving/log/?verdict=failed").content.decode()
    detail = client.get(f"/p/algebra/serving/log/{row.pk}/").content.decode()
    assert '<div class="prose" data-typeset="reasoning">It is 4.</div>' in detail
    assert "Why this score?" in detail


def test_a_manager_limits_every_token_of_the_project(client, project, people):
    client.force_login(people["manager"])
    limits = {"requests_per_minute": 5, "requests_per_day": 0, "steps_per_minute": 0, "steps_per_day": 9, "log_days": 7}
    assert client.post("/p/algebra/serving/limits/", limits).status_code == 302
    project.refresh_from_db()
    policy = project.policies.serving
    assert (policy.requests_per_minute, policy.steps_per_day, policy.log_days, policy.keep_text) == (5, 9, 7, False)


@pytest.mark.django_db(transaction=True)
def test_limits_saved_during_another_change_lose_nothing(client, project, people):
    client.force_login(people["manager"])
    limits = {"requests_per_minute": 5, "requests_per_day": 0, "steps_per_minute": 0, "steps_per_day": 9, "log_days": 7}
    save_beside_another(client, "/p/algebra/serving/limits/", limits, by=people["manager"], project=project)
    assert (project.policies.serving.log_days, project.policies.generation_budget) == (7, 77)


def test_the_log_forgets_what_the_policy_does_not_keep(project):
    project.policy = {"serving": {"log_days": 2}}
    project.save()
    kept = served(project, ago=timedelta(days=1))
    served(project, ago=timedelta(days=3))
    assert forget_old_scores() == 1
    assert list(ServedScore.objects.all()) == [kept]


def test_the_log_is_searched_by_the_words_of_problem_and_steps(client, project, people):
    client.force_login(people["manager"])
    steps = [["Divide by \\frac{1}{2}.", "reasoning"], ["Thus Änne has 4096 apples.", "answer"]]
    row = served(project, text=["A train leaves Zürich.", steps], text_hash="b" * 64)
    other = served(project)
    served(project, text=None, text_hash="c" * 64)

    def found(words):
        page = client.get("/p/algebra/serving/log/", {"q": words}).content.decode()
        return [one for one in (row, other) if f"/p/algebra/serving/log/{one.pk}/" in page]

    for words in ("train", "LEAVES zürich", "änne has 4096", "train apples", "appl", "\\frac{1}{2}", "b" * 64):
        assert found(words) == [row], words
    assert found("4096 oranges") == found("reasoning") == found("?!") == []
    assert found("What is 2 + 2?") == [other]
    assert found(str(other.request)) == [other]


def test_the_longest_text_is_logged_and_searched_through_the_index(project):
    words = " ".join(f"{n:x}𝒶ß" for n in range(120_000))
    row = served(project, text=[words, [[words, "reasoning"]] * 3])
    assert list(with_words(ServedScore.objects.all(), "1a2𝒶ß 1a3𝒶ß")) == [row]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "served_score_by_words" in with_words(ServedScore.objects.order_by(), "train").explain()
