"""Every page and state that is photographed: who opens which address, and what they do there first."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page, expect

LABEL = "/p/algebra/label/"
ROLES = ("annotator", "reviewer", "manager")


def nothing(page: Page) -> None:
    """The page as it opens."""


def keys(*pressed: str) -> Callable[[Page], None]:
    """Presses keys in the workbench once its first solution is there."""

    def press(page: Page) -> None:
        expect(page.locator("li.step").first).to_be_visible()
        for key in pressed:
            page.keyboard.press(key)

    return press


def typed(text: str, *before: str) -> Callable[[Page], None]:
    """Presses keys, and types a text where they led."""

    def act(page: Page) -> None:
        keys(*before)(page)
        page.keyboard.type(text)

    return act


def clicked(name: str) -> Callable[[Page], None]:
    """Works a button of the workbench."""

    def act(page: Page) -> None:
        keys()(page)
        page.get_by_role("button", name=name, exact=True).first.click()

    return act


def offline(page: Page) -> None:
    """Rates while the server cannot be reached."""
    keys()(page)
    page.context.set_offline(True)
    page.keyboard.press("1")
    expect(page.locator(".banners")).to_contain_text("cannot be reached")


def left_alone(page: Page) -> None:
    """Comes back when the time for the solution has nearly run out."""
    keys("1")(page)
    page.evaluate("(now => (Date.now = () => now() + 27 * 60_000))(Date.now.bind(Date))")
    expect(page.locator(".banner.calm")).to_be_visible(timeout=15_000)


def refused(page: Page) -> None:
    """Sends a form that the server says no to."""
    page.locator("main button.primary").last.click()
    page.wait_for_load_state()


def wrong_share(page: Page) -> None:
    page.locator("[name=hints_share]").fill("0.9")
    refused(page)


@dataclass(frozen=True)
class State:
    """`who` is a role, or nobody; `act` is what is done before the picture."""

    name: str
    address: str
    who: str | None = "manager"
    act: Callable[[Page], None] = nothing


def _pages(project: str, prefix: str, *paths: str) -> list[State]:
    return [
        State(f"{prefix}-{path.strip('/').replace('/', '-').split('?')[0] or 'overview'}", f"/p/{project}/{path}")
        for path in paths
    ]


PROJECT = (
    "", "labels/", "solutions/", "queue/", "disputes/", "quality/", "quality/sources/", "quality/hints/", "gold/",
    "generations/", "runs/", "models/", "serving/", "serving/log/", "answers/", "import/", "sample/", "export/",
    "members/", "learning/", "simulations/", "settings/", "review/", "my-work/",
)  # fmt: skip
STATES = [
    State("account-sign-in", "/accounts/login/", None),
    State("account-sign-in-wrong", "/accounts/login/", None, lambda page: _sign_in_wrongly(page)),
    State("account-password", "/accounts/password/change/"),
    State("account-sign-out", "/accounts/logout/"),
    State("home", "/"),
    State("home-empty", "/", "stranger"),
    State("home-tokens", "/tokens/"),
    State("home-new-project", "/projects/new/"),
    State("error-not-found", "/nowhere/"),
    State("error-not-allowed", "/p/algebra/settings/", "annotator"),
    *_pages("algebra", "project", *PROJECT, "generations/0/", "models/1/", "models/compare/?a=1&b=1"),
    *_pages("empty", "empty", *PROJECT),
    State("project-run", "/runs/{run}/"),
    State("project-import-job", "/imports/{job}/"),
    State("project-solution", "/p/algebra/solutions/{solution}/"),
    State("project-settings-refused", "/p/algebra/settings/", act=wrong_share),
    State("annotator-overview", "/p/algebra/", "annotator"),
    State("annotator-my-work", "/p/algebra/my-work/", "annotator"),
    State("annotator-practice", "/p/algebra/practice/", "annotator"),
    State("annotator-labels", "/p/algebra/labels/", "annotator"),
    State("reviewer-review", "/p/algebra/review/", "reviewer"),
    State("reviewer-case", "/p/algebra/review/{solution}/", "reviewer"),
    State("reviewer-disputes", "/p/algebra/disputes/", "reviewer"),
    State("work-begun", LABEL, "annotator", keys("1", "2")),
    State("work-first-error", LABEL, "annotator", keys("1", "3")),
    State("work-finished", LABEL, "annotator", keys("1", "1", "1", "1", "1")),
    State("work-not-ready", LABEL, "annotator", keys("1", "Enter")),
    State("work-comment", LABEL, "annotator", typed("The sign is wrong.", "1", "c")),
    State("work-mark-text", LABEL, "annotator", keys("a")),
    State("work-spans", LABEL, "annotator", keys("3", "a", "Shift+ArrowRight", "a")),
    State("work-break", LABEL, "annotator", keys("1", "b")),
    State("work-sitting", LABEL, "annotator", clicked("1 today")),
    State("work-lease-ends", LABEL, "annotator", left_alone),
    State("work-search", LABEL, "annotator", typed("answer", "/")),
    State("work-keys", LABEL, "annotator", keys("?")),
    State("work-guidelines", LABEL, "annotator", keys("g")),
    State("work-reference", LABEL, "annotator", keys("r")),
    State("work-flagged", LABEL, "annotator", keys("f", "4")),
    State("work-skip", LABEL, "annotator", keys("s")),
    State("work-give-up", LABEL, "annotator", clicked("Give up")),
    State("work-bad-problem", LABEL, "annotator", clicked("Bad problem")),
    State("work-offline", LABEL, "annotator", offline),
    State("work-hint", LABEL, "hinted", keys("1", "1")),
    State("work-candidates", "/p/choosing/label/", "annotator", keys("1", "1", "1", "x", "3", "1")),
    State("work-error-asked", "/p/asking/label/", "annotator", keys("u", "q")),
    State("work-dimensions", "/p/dimensions/label/", "annotator", keys("1", "3", "d", "p")),
    State("german-work", LABEL, "german", keys("1", "3")),
    State("german-settings", "/p/algebra/settings/", "german"),
    State("german-case", "/p/algebra/review/{solution}/", "german"),
    State("work-nothing-left", "/p/empty/label/", "annotator"),
]


def _sign_in_wrongly(page: Page) -> None:
    page.locator("[name=login]").fill("nobody")
    page.locator("[name=password]").fill("wrong")
    page.locator("[name=password]").press("Enter")
    page.wait_for_load_state()
