"""The pages of judging: the list's filter is the selection, with its cost, a trial on one solution, and progress."""

import pytest
from django.test import Client

from annotation.core.membership.projects import create_project
from annotation.loop.judging.run_body import run_judging
from annotation.models import Annotation, JudgeCall, JudgingRun
from tests.factories import ProblemFactory, SolutionFactory, UserFactory, index_words
from tests.fake_endpoint import FakeEndpoint, fake_endpoint

ASKED = {
    "endpoint": "judge", "template": "first_error", "mode": "batch", "max_tokens": "200", "temperature": "0",
    "token_budget": "0", "cost_budget": "0.5", "prompt": "",
}  # fmt: skip
ROLLOUTS = {
    "endpoint": "judge", "rollouts": "2", "search": "first", "threshold": "0", "max_tokens": "200", "temperature": "1",
    "token_budget": "9000", "cost_budget": "0", "prompt": "",
}  # fmt: skip


@pytest.fixture
def endpoint(settings):
    with fake_endpoint(lambda request, number: "It ends in \\boxed{1}") as fake:
        settings.POLICY_ENDPOINTS = {"judge": fake.entry(prices={"prompt": 1, "completion": 10})}
        yield fake


@pytest.fixture
def asking(client: Client, db: None, endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr("annotation.core.lifecycle.enqueue", lambda *task, **_: None)
    manager = UserFactory(is_staff=True)
    project = create_project(by=manager, name="Judged", slug="judged")
    for text, split in (("What is 2 + 2?", "pool"), ("What is 2 + 3?", "pool"), ("What is 2 + 4?", "holdout")):
        problem = ProblemFactory(project=project, text=text, split=split, reference_answer="4")
        SolutionFactory(project=project, problem=problem)
    index_words(project)
    client.force_login(manager)
    return client


def page(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def test_the_list_leads_to_the_judge_with_its_filter(asking: Client) -> None:
    solutions = page(asking, "/p/judged/solutions/?search=2+%2B+3")
    assert 'href="/p/judged/judge/?method=judge&amp;search=2+%2B+3"' in solutions
    shown = asking.post("/p/judged/judge/preview/?method=judge&search=2+%2B+3", ASKED).content.decode()
    assert '<dd class="value">1</dd>' in shown
    assert "if every reply reaches the token limit" in shown
    assert JudgeCall.objects.count() == 0


def test_a_run_is_started_watched_and_ends_with_its_cost(asking: Client) -> None:
    answer = asking.post("/p/judged/judge/?method=judge", ASKED)
    run = JudgingRun.objects.get()
    address = f"/p/judged/judge/{run.pk}/"
    assert answer.headers["Location"] == address
    assert (run.solutions, run.left_out, float(run.cost_budget)) == (2, {"holdout": 1}, 0.5)
    waiting = page(asking, address)
    assert "Waiting for a worker." in waiting
    assert 'hx-select="#job"' in waiting
    run_judging(run.pk, seconds=None)
    over = page(asking, address)
    assert "0.00080 EUR" not in over
    assert "0.0006 EUR" in over  # 200 prompt tokens at 1 and 40 completion tokens at 10 per million
    assert "0.00030 EUR" in over, "the cost of each of the two labels"
    assert "Left out: 1 <a" in over
    assert "It ends in" in over
    assert 'hx-select="#job"' not in over


def test_a_run_without_prices_claims_no_cost(asking: Client, endpoint: FakeEndpoint, settings: object) -> None:
    """A model whose price nobody configured seemed to be free: 0.0000 EUR."""
    settings.POLICY_ENDPOINTS = {"judge": endpoint.entry()}
    asking.post("/p/judged/judge/?method=judge", ASKED | {"cost_budget": "0"})
    run = JudgingRun.objects.get()
    run_judging(run.pk, seconds=None)
    over = page(asking, f"/p/judged/judge/{run.pk}/")
    assert "no prices configured" in over
    assert "0.0000 EUR" not in over


def test_one_solution_is_tried_and_nothing_is_stored(asking: Client, endpoint: FakeEndpoint) -> None:
    shown = asking.post("/p/judged/judge/preview/?method=judge", ASKED | {"try": "1"}).content.decode()
    assert "First error: step 2" in shown
    assert "&lt;step_0&gt;" in shown
    endpoint.script = lambda request, number: "I would rather not."
    shown = asking.post("/p/judged/judge/preview/?method=judge", ASKED | {"try": "1"}).content.decode()
    assert "The reply has no verdict in the requested form." in shown
    endpoint.script = lambda request, number: "The answer is 4."
    shown = asking.post("/p/judged/judge/preview/?method=monte_carlo", ROLLOUTS | {"try": "1"}).content.decode()
    assert "right answer" in shown
    assert not JudgingRun.objects.exists()
    assert not Annotation.objects.exists()


def test_rollouts_are_started_from_their_form(asking: Client) -> None:
    asking.post("/p/judged/judge/?method=monte_carlo", ROLLOUTS)
    run = JudgingRun.objects.get()
    assert (run.method, run.rollouts, run.search, run.token_budget) == ("monte_carlo", 2, "first", 9000)
    assert "until the first error" in page(asking, f"/p/judged/judge/{run.pk}/")


def test_a_model_that_is_called_a_judge_is_proposed_to_judge(asking: Client, settings: object) -> None:
    settings.POLICY_ENDPOINTS = {  # type: ignore[attr-defined]
        "sandbox": {"url": "sandbox:", "model": "sandbox-medium"},
        "critic": {"url": "sandbox:", "model": "sandbox-judge"},
    }
    assert 'value="critic" selected' in page(asking, "/p/judged/judge/?method=judge")
    assert 'value="critic" selected' not in page(asking, "/p/judged/judge/?method=monte_carlo")


def test_without_an_endpoint_the_page_names_the_setting(asking: Client, settings: object) -> None:
    settings.POLICY_ENDPOINTS = {}  # type: ignore[attr-defined]
    assert "POLICY_ENDPOINTS" in page(asking, "/p/judged/judge/?method=judge")
