"""Every page and state that is photographed."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from annotation.models import Project
from tests.labour_world import COSTS, divide_labour
from tests.screenshots import datasets, desk, outside
from tests.screenshots.state import State, World, from_right_to_left


def on_case(*pressed: str) -> Callable[[Page], None]:
    """Presses keys on a case of review once it has them."""

    def press(page: Page) -> None:
        expect(page.locator("tr[aria-current=step]")).to_be_visible()
        for key in pressed:
            page.keyboard.press(key)

    return press


def refused(page: Page) -> None:
    """Sends a form that the server says no to."""
    page.locator("main button.primary").last.click()
    page.wait_for_load_state()


def wrong_share(page: Page) -> None:
    page.locator("[name=hints_share]").fill("0.9")
    refused(page)


def unsaved(page: Page) -> None:
    page.locator("[name=guidelines]").fill("Count again.")


def divided(_world: World) -> None:
    """People and a judge have divided the labour of the project."""
    project = Project.objects.get(slug="algebra")
    project.policy |= {"costs": COSTS, "routing": {"rules": [{"route": "judge", "domains": ["algebra"]}]}}
    project.save()
    divide_labour(project.generations.get(state="open"))


def _pages(project: str, prefix: str, *paths: str) -> list[State]:
    return [
        State(f"{prefix}-{path.strip('/').replace('/', '-').split('?')[0] or 'overview'}", f"/p/{project}/{path}")
        for path in paths
    ]


PROJECT = (
    "", "labels/", "solutions/", "queue/", "disputes/", "quality/", "quality/agreement/", "quality/annotators/",
    "quality/sources/", "quality/hints/", "quality/labour/", "quality/agreement-filter/", "gold/", "generations/",
    "runs/", "models/", "serving/", "serving/log/", "jobs/", "answers/", "import/", "sample/", "datasets/", "members/",
    "learning/", "planner/", "simulations/", "review/", "my-work/", "audit/",
)  # fmt: skip
SETTINGS = (
    "settings/", "settings/guidelines/", "settings/scheme/", "settings/answers/", "settings/queue/", "settings/labour/",
    "settings/work/", "settings/quality/", "settings/training/", "settings/rounds/", "settings/webhooks/",
)  # fmt: skip
STATES = [
    State("account-sign-in", "/accounts/login/", None),
    State("account-sign-in-wrong", "/accounts/login/", None, lambda page: _sign_in_wrongly(page)),
    State("account-password", "/accounts/password/change/"),
    State("account-sign-out", "/accounts/logout/"),
    State("home", "/"),
    State("home-empty", "/", "stranger"),
    State("home-tokens", "/tokens/"),
    State("home-glossary", "/glossary/"),
    State("home-api", "/api-reference/"),
    State("home-api-labels", "/api-reference/labels/"),
    State("home-new-project", "/projects/new/"),
    State("error-not-found", "/nowhere/"),
    State("error-not-allowed", "/p/algebra/settings/", "annotator"),
    *_pages("algebra", "project", *PROJECT, "generations/0/", "models/1/", "models/compare/?a=1&b=1"),
    *_pages("algebra", "project", *SETTINGS),
    *_pages("empty", "empty", *PROJECT, "settings/"),
    State("project-labour-divided", "/p/algebra/quality/labour/", given=divided),
    State(
        "project-agreement-filter-rule",
        "/p/algebra/quality/agreement-filter/?agreement_sources=human&agreement_sources=model_judge",
        given=divided,
    ),
    State("project-labour-settings", "/p/algebra/settings/labour/", given=divided),
    State("project-run", "/p/algebra/runs/1/"),
    State("project-import-job", "/imports/{job}/"),
    State("project-solution", "/p/algebra/solutions/{solution}/"),
    State("project-settings-refused", "/p/algebra/settings/work/", act=wrong_share),
    State("project-settings-unsaved", "/p/algebra/settings/guidelines/", act=unsaved),
    State("project-member", "/p/algebra/members/{member}/gold/"),
    State("project-machine", "/p/algebra/members/{machine}/machine/"),
    State("project-machine-add", "/p/algebra/members/new-machine/"),
    State("project-gold-in-use", "/p/practice/gold/"),
    State("annotator-my-work", "/p/algebra/my-work/", "annotator"),
    State("annotator-labels", "/p/algebra/labels/", "annotator"),
    State("reviewer-review", "/p/algebra/review/", "reviewer"),
    State("reviewer-case", "/p/algebra/review/{solution}/", "reviewer"),
    State("reviewer-case-more", "/p/algebra/review/{solution}/", "reviewer", on_case("3", "m")),
    State(
        "reviewer-case-consensus",
        "/p/algebra/review/{solution}/",
        "reviewer",
        lambda page: page.get_by_label("Show shares of votes").check(),
    ),
    State("reviewer-disputes", "/p/algebra/disputes/", "reviewer"),
    State("german-overview", "/p/algebra/", "german"),
    State("german-quality", "/p/algebra/quality/", "german"),
    State("german-settings", "/p/algebra/settings/work/", "german"),
    State("right-to-left-overview", "/p/algebra/", "german", from_right_to_left),
    State("right-to-left-settings", "/p/algebra/settings/queue/", "german", from_right_to_left),
    State("german-case", "/p/algebra/review/{solution}/", "german"),
    *datasets.STATES,
    *outside.STATES,
    *desk.STATES,
]


def _sign_in_wrongly(page: Page) -> None:
    page.locator("[name=login]").fill("nobody")
    page.locator("[name=password]").fill("wrong")
    page.locator("[name=password]").press("Enter")
    page.wait_for_load_state()
