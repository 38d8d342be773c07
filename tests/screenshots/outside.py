"""The states of pages that stand around the work: accounts, errors, the log, and jobs as they end."""

import json
import uuid
from datetime import timedelta

from django.template import loader
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.core.membership.projects import create_project
from annotation.files.record_import import import_records
from annotation.loop.gateway.sandbox import Sandbox
from annotation.loop.judging.templates import TEMPLATES
from annotation.models import (
    Annotation,
    JudgingRun,
    Membership,
    ModelVersion,
    Problem,
    Project,
    SampledProblem,
    SamplingRun,
    ServedScore,
    SimulationRun,
)
from prm.messages import Message
from tests.factories import SnapshotFactory
from tests.screenshots import given
from tests.screenshots.acts import keys
from tests.screenshots.sheet import LOOKS
from tests.screenshots.state import Act, State, World
from tests.screenshots.world import PROBLEM, STEPS
from tests.unit.annotation.work.queue.gold_world import work

RECORDS = [
    {"problem": PROBLEM, "steps": [one if isinstance(one, str) else one[0] for one in STEPS], "answer": "14"},
    {"problem": "What is $2 + 2$?", "steps": ["It is $4$."], "answer": "4"},
    {"problem": "What is $3 + 3$?", "steps": "six"},
]
CRITIQUE = '{"steps": [{"step": 0, "rating": 1}, {"step": 1, "rating": -1, "reason": "7 times 8 is 56."}]}'
TABLE = 'frage,loesung,ergebnis\nWhat is 2 + 2?,"We add.\n\nIt is 4.",4\nWhat is 3 + 3?,"It is 7.",6\n'
OUTCOMES = [{"id": "a-1", "passed": 4, "failed": 0}, {"id": "", "passed": 1}]
CURVE = {"value": 0.51, "low": 0.4, "high": 0.6}


def saved(gain: float, never: bool) -> dict[str, object]:
    return {"mean": {"value": 1 + gain * 20, "low": 0.9, "high": 2.4}, "never": never}


RESULT = {
    "comparisons": [
        {
            "function": function,
            "graded": graded,
            "f1": [CURVE],
            "area_gain": {"solutions": {"value": gain, "low": gain - 0.03, "high": gain + 0.03}},
            "saving": {axis: saved(gain, axis == "seconds") for axis in ("solutions", "steps", "seconds")},
            "choosing": None if function == "random" else saved(gain / 4, False),
        }
        for function, graded, gain in (
            ("random", 1.0, 0.05),
            ("wrong_answers", 0.0, -0.012),
            ("contradiction", 1.0, 0.061),
        )
    ]
}


def algebra() -> Project:
    return Project.objects.get(slug="algebra")


def served(world: World) -> None:
    """A score whose text was kept, and one that was refused for its time."""
    version = ModelVersion.objects.get(project=algebra(), number=1)
    told = {
        "project": algebra(),
        "user": world["manager"],
        "route": "score",
        "aggregate": "product",
        "text_hash": "a" * 64,
        "model_version": version,
        "model_number": version.number,
        "model_sha256": version.sha256,
        "seconds": 0.042,
    }
    now = timezone.now()
    steps = [[one if isinstance(one, str) else one[0], "reasoning"] for one in STEPS]
    for ago in range(2):
        ServedScore.objects.create(
            **told,
            request=uuid.uuid4(),
            text=[PROBLEM, steps],
            mean=[0.97, 0.95, 0.91, 0.31, 0.28],
            spread=[0.01, 0.02, 0.04, 0.12, 0.14],
            score=0.073,
            first_suspicious=3,
            uncertainty=0.14,
            distance=0.42,
            out_of_domain=False,
            abstained=True,
            asked_at=now - timedelta(hours=ago),
        )
    late = told | {"seconds": 20.0, "text_hash": "b" * 64}
    ServedScore.objects.create(**late, request=uuid.uuid4(), failure="timed_out", asked_at=now - timedelta(hours=3))


def simulated(**fields: object) -> SimulationRun:
    snapshot = SnapshotFactory(project=algebra(), counts={"solutions": 1240})
    functions = ["random", "wrong_answers", "contradiction"]
    return SimulationRun.objects.create(
        project=algebra(), snapshot=snapshot, functions=functions, seeds=5, budget=200, **fields
    )


def simulation_over(_world: World) -> None:
    simulated(state="done", result=RESULT, progress=1)


def simulation_under_way(_world: World) -> None:
    simulated(state="running", progress=0.4, message="seed 2, contradiction")


def sampled(world: World, **fields: object) -> None:
    """A sampling of which one problem did not come in."""
    run = SamplingRun.objects.create(
        project=algebra(),
        requested_by=world["manager"],
        endpoint="sandbox",
        model="sandbox-medium",
        seed=4,
        prompt="Solve it step by step: {problem}",
        problems=120,
        **fields,
    )
    for position, problem in enumerate(Problem.objects.filter(project=algebra(), text=PROBLEM)[:2]):
        SampledProblem.objects.create(
            run=run,
            problem=problem,
            position=position,
            state="failed",
            error="The endpoint answers 429: too many requests.",
        )


def judged(_world: World) -> None:
    """A judging run that its budget ended, with a reply that could not be read."""
    run = JudgingRun.objects.create(
        project=algebra(), method="judge", endpoint="qwen", model="Qwen/Qwen3-8B", template="critic", state="done",
        prompt=TEMPLATES["critic"].text, prompt_version="critic/1", currency="EUR", seed=4, solutions=120, labelled=84,
        failed_solutions=2, calls=90, prompt_tokens=60_400, completion_tokens=21_300, cost="0.021840",
        cost_budget="0.022", prompt_price="0.15", completion_price="0.6", left_out={"holdout": 31, "gold": 4},
        note=Message("judging_budget_spent", tokens=81_700, cost="0.02 EUR"),
    )  # fmt: skip
    for position, solution in enumerate(algebra().solutions.order_by("pk")[:2]):
        judged = run.judged.create(solution=solution, position=position, state="failed" if position else "done")
        judged.calls.create(
            prefix=4, attempt=0, state="answered", prompt_tokens=671, completion_tokens=240, cost="0.000245",
            replies=[{"text": "I am not sure what to make of this." if position else CRITIQUE, "cut": False}],
        )  # fmt: skip


def over(world: World) -> None:
    counts = {"sampled": 476, "accepted": 431, "duplicates": 41, "refused": 4, "right": 260, "wrong": 160}
    sampled(
        world, state="done", done_problems=119, failed_problems=1, ungraded=11, calls=119,
        prompt_tokens=24_000, completion_tokens=183_000, **counts,
    )  # fmt: skip


def under_way(world: World) -> None:
    sampled(world, state="running", done_problems=40, sampled=160, accepted=150, started_at=timezone.now())


def sandbox(world: World) -> None:
    project = create_project(by=world["manager"], name="Sandbox", slug="sandbox")
    import_records(project=project, records=Sandbox(solutions=20, seed=0).records(), by=world["manager"])


def own_work(world: World) -> None:
    work(Membership.objects.get(project=algebra(), user=world["annotator"]), 1)


def own_password(world: World) -> None:
    world["manager"].set_password("correct horse")  # whoever has none cannot change it
    world["manager"].save()


def submitted(page: Page) -> None:
    page.locator("main button.primary").last.click()
    page.wait_for_load_state()


def wrong_password(page: Page) -> None:
    for name in ("oldpassword", "password1", "password2"):
        page.locator(f"[name={name}]").fill("1234")
    submitted(page)


def file(name: str, *lines: object) -> Act:
    """Chooses a file of these lines."""
    content = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)

    def choose(page: Page) -> None:
        chosen = {"name": name, "mimeType": "application/octet-stream", "buffer": content.encode()}
        page.locator("[name=file]").set_input_files(chosen)  # type: ignore[arg-type]

    return choose


def previewed(choose: Act) -> Act:
    def act(page: Page) -> None:
        choose(page)
        expect(page.locator("#import-preview")).not_to_be_empty()

    return act


def example_chosen(name: str) -> Act:
    def choose(page: Page) -> None:
        page.locator("[name=source][value=example]").check()
        page.locator(f"[name=example][value={name}]").check()

    return choose


def started(people: str, *lines: object) -> Act:
    """A new project that is sent off."""

    def act(page: Page) -> None:
        previewed(file("own.jsonl", *lines))(page)
        page.locator("[name=people]").fill(people)
        page.locator("button.primary").click()
        expect(page.locator("[role=alert], .secret").first).to_be_visible()

    return act


def mapped(page: Page) -> None:
    """A table whose columns have names of their own."""
    page.locator("[name=format]").select_option("table")
    file("table.csv", TABLE)(page)


def results_read(page: Page) -> None:
    file("results.jsonl", *OUTCOMES)(page)
    submitted(page)


def sampling_previewed(page: Page) -> None:
    page.get_by_role("button", name="Preview three samples").click()
    expect(page.locator("#sampling-preview article").first).to_be_visible()


def rolled_out(page: Page) -> None:
    page.get_by_role("button", name="Try one solution").click()
    expect(page.locator("#judging-preview article")).to_be_visible()


def why(page: Page) -> None:
    """Asks for the reasons, and waits until the page has looked for them once."""
    ask = page.get_by_role("button", name="Why this score?")
    if ask.is_visible():  # it was not asked before
        ask.click()
    with page.expect_response(lambda answer: "hx-request" in answer.request.headers):
        expect(page.get_by_role("status")).to_be_visible()
    expect(page.locator("#reasons [data-typeset]")).to_have_count(0)
    expect(page.locator("#reasons .katex").first).to_be_visible()


def screened(page: Page) -> None:
    """Passes the screening by going on, and looks at the answers."""
    keys()(page)
    page.goto("/p/empty/my-work/")


def own_label(page: Page) -> None:
    """Opens what was handed in, to change it."""
    page.goto(f"/p/algebra/label/{Annotation.objects.filter(lease__isnull=False).latest('pk').solution_id}/")
    keys()(page)


def own_label_changed(page: Page) -> None:
    """Finds the first error at another step than before, and hands it in again."""
    own_label(page)
    keys("k", "e", "Enter")(page)
    expect(page.locator(".idle .primary")).to_be_visible()


def too_old(page: Page) -> None:
    """Sends a form after the cookies are gone."""
    page.context.clear_cookies()
    page.locator("[name=login]").fill("nobody")
    page.locator("[name=password]").fill("wrong")
    submitted(page)


def answered(status: int) -> Act:
    """What a request is answered with that cannot be read or that fails."""

    def act(page: Page) -> None:
        body = loader.get_template(f"{status}.html").render()
        page.route("**/failing/", lambda route: route.fulfill(status=status, body=body, content_type="text/html"))
        page.goto("/failing/")

    return act


STATES = [
    *(State(f"error-{status}", "/", act=answered(status)) for status in (400, 500, 503)),
    State("error-form-too-old", "/accounts/login/", None, too_old),
    State("account-password-own", "/accounts/password/change/", given=own_password),
    State("account-password-refused", "/accounts/password/change/", act=wrong_password, given=own_password),
    State("account-password-reset", "/accounts/password/reset/", None),
    State("account-password-reset-sent", "/accounts/password/reset/done/", None),
    State("account-password-reset-old", "/accounts/password/reset/key/1-none/", None),
    State("account-password-reset-done", "/accounts/password/reset/key/done/", None),
    State("account-sign-up", "/accounts/signup/", None),
    State("account-inactive", "/accounts/inactive/", None),
    State("account-email", "/accounts/email/"),
    State("account-email-sent", "/accounts/confirm-email/"),
    State("account-email-old", "/accounts/confirm-email/none/"),
    State("account-again", "/accounts/reauthenticate/", given=own_password),
    State("audit-log", "/admin/annotation/auditentry/", "superuser"),
    State("audit-entry", "/admin/annotation/auditentry/{audit}/change/", "superuser"),
    State("home-new-project-file", "/projects/new/", act=previewed(file("algebra.jsonl", *RECORDS))),
    State("home-new-project-example", "/projects/new/", act=previewed(example_chosen("agent_runs"))),
    State("home-new-project-wrong-type", "/projects/new/", act=previewed(file("report.pdf", "%PDF-1.4\0"))),
    State("home-new-project-refused", "/projects/new/", act=started("no one!", *RECORDS)),
    State("home-new-project-passwords", "/projects/new/", act=started("nina, olaf", *RECORDS)).at(LOOKS[0]),
    State("project-import-preview", "/p/algebra/import/", act=previewed(file("algebra.jsonl", *RECORDS))),
    State("project-import-columns", "/p/algebra/import/", act=previewed(file("table.csv", TABLE))),
    State("project-import-mapped", "/p/algebra/import/", act=previewed(mapped)),
    State("project-import-unreadable", "/p/algebra/import/", act=previewed(file("notes.jsonl", "not JSON"))),
    State("project-test-results", "/p/algebra/import/test-results/"),
    State("project-test-results-read", "/p/algebra/import/test-results/", act=results_read),
    State("project-sampling", "/samplings/{sampling}/", given=over),
    State("project-sampling-under-way", "/samplings/{sampling}/", given=under_way),
    State("project-samplings", "/p/algebra/sample/", given=over),
    State("project-sample-preview", "/p/sandbox/sample/", act=sampling_previewed, given=sandbox),
    State("project-judging", "/p/algebra/judge/{judging}/", given=judged),
    State("project-judgings", "/p/algebra/judge/", given=judged),
    State("project-rollouts", "/p/sandbox/judge/?method=monte_carlo", act=rolled_out, given=sandbox),
    State("project-simulation", "/p/algebra/simulations/{simulation}/", given=simulation_over),
    State("project-simulation-under-way", "/p/algebra/simulations/{simulation}/", given=simulation_under_way),
    State("project-served-score", "/p/algebra/serving/log/{served}/", given=served),
    State("project-served-score-asked", "/p/algebra/serving/log/{served}/", act=why, given=served),
    State("project-served-scores", "/p/algebra/serving/log/", given=served),
    State("project-serving-busy", "/p/algebra/serving/", given=served),
    State("annotator-sent-back", "/p/algebra/my-work/", "annotator", given=given.sent_back),
    State("annotator-screened", "/p/empty/label/", "annotator", screened, given.screened(True, False, True)),
    State("work-own-label", "/p/algebra/label/", "annotator", own_label, own_work),
    State("work-own-label-changed", "/p/algebra/label/", "annotator", own_label_changed, own_work),
]
