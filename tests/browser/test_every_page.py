"""Every page of the site, found by its address, read by axe-core at every width, in both themes and directions."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from allauth.account import urls as account_urls
from django.contrib.auth.models import User
from django.urls import URLPattern, URLResolver, reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import ImportJob, Project, SamplingRun, ServedScore, SimulationRun, TrainingRun
from labelling_ui import urls
from labelling_ui.pages.settings.views import PAGES as SETTINGS
from tests import manager_world
from tests.browser.axe import violations
from tests.factories import SnapshotFactory

pytestmark = pytest.mark.django_db(transaction=True)

WIDTHS = (400, 768, 1280, 2560)
NO_PAGE = 405  # a form's address
# What answers with a file.
FILES = {
    "import-originals",
    "model-audit-page",
    "model-exported",
    "run-artefact",
    "run-log",
    "simulation-picture",
    "simulation-report",
    "snapshot-card",
    "snapshot-download",
}
# What a page asks for behind its address.
QUERIES = {"model-compare": "?a=1&b=1"}


@pytest.fixture
def people() -> dict[str, User]:
    return manager_world.create_people()


@pytest.fixture
def project(people: dict[str, User]) -> Project:
    people["manager"].set_password("correct horse")  # whoever has none cannot change it
    people["manager"].save()
    project = manager_world.create_empty_project(people)
    manager_world.fill(project, people)
    return project


def rows(project: Project) -> dict[str, list[dict[str, Any]]]:
    """What stands in the addresses of pages that show a row, by the name of the address."""
    solution = {"solution_id": project.solutions.order_by("pk").first().pk}
    snapshot = SnapshotFactory(project=project)
    simulation = SimulationRun.objects.create(
        project=project, snapshot=snapshot, functions=["random"], seeds=2, budget=5, state="running", progress=0.5
    )
    sampling = SamplingRun.objects.create(project=project, endpoint="e", model="m", seed=4, prompt="Go: {problem}")
    served = ServedScore.objects.create(
        request=uuid.uuid4(),
        project=project,
        route="score",
        aggregate="product",
        text_hash="a" * 64,
        text=["What is 2 + 2?", [["It is 4.", "reasoning"]]],
        mean=[0.9],
        spread=[0.1],
        score=0.9,
        first_suspicious=-1,
        uncertainty=0.1,
        seconds=0.02,
        asked_at=timezone.now(),
    )
    return {
        "revise": [solution],
        "solution": [solution],
        "review-case": [solution],
        "member": [{"member_id": project.memberships.first().pk}],
        "generation": [{"number": 0}],
        "model": [{"number": 1}],
        "settings-page": [{"name": kind.name} for kind in SETTINGS],
        "simulation": [{"simulation_id": simulation.pk}],
        "sampling-run": [{"run_id": sampling.pk}],
        "served-score": [{"row_id": served.pk}],
        "run": [{"number": TrainingRun.objects.get().number}],
        "import-job": [{"job_id": ImportJob.objects.get().pk}],
    }


def patterns(of: list[Any], around: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name of every address with the names of its parts."""
    for one in of:
        pattern = one.pattern
        parts = (*around, *(pattern.converters or pattern.regex.groupindex))
        if isinstance(one, URLResolver):
            yield from patterns(one.url_patterns, parts)
        elif isinstance(one, URLPattern) and one.name:
            yield one.name, parts


def addresses(project: Project) -> list[str]:
    """Every address but those of files. One that shows a row that is not in `rows` is not found there, and told."""
    found, known = [], rows(project)
    for name, parts in [*patterns(urls.urlpatterns), *patterns(account_urls.urlpatterns)]:
        for row in [] if name in FILES else known.get(name, [{}]):
            given = {"slug": project.slug, "action": "promote", "key": "none", "uidb36": "1", **row}
            found.append(reverse(name, kwargs={part: given.get(part, 0) for part in parts}) + QUERIES.get(name, ""))
    return found


@pytest.mark.parametrize("half", [0, 1])
def test_every_page_is_accessible_and_fits_every_screen_in_both_themes_and_directions(
    page_for: Callable[..., Page], project: Project, people: dict[str, User], half: int
) -> None:
    """No serious violation of WCAG 2.2 AA, nothing wider than the screen, in the language of the longer words; and
    nothing on them that the policy of contents refuses."""
    page = page_for(people["manager"], locale="de-DE", reduced_motion="reduce")  # axe reads no colour on its way
    refused: list[str] = []
    page.on(
        "console", lambda said: "Content Security Policy" in said.text and refused.append(f"{page.url}: {said.text}")
    )
    found = {address: _faults(page, address) for address in addresses(project)[half::2]}
    found["/nowhere/"] = _faults(page, "/nowhere/", status=404)
    page.context.clear_cookies()
    found["/accounts/login/"] = _faults(page, "/accounts/login/")
    told = [f"{address}: {fault}" for address, faults in found.items() for fault in faults]
    assert not told + refused, "\n".join(told + refused)


def _faults(page: Page, address: str, *, status: int = 200) -> list[str]:
    answer = page.request.get(address, max_redirects=0)
    if answer.status == NO_PAGE or 300 <= answer.status < 400:
        return []
    if answer.status != status:
        return [f"answers {answer.status}"]
    page.goto(address)
    if page.locator("#workbench").count():
        expect(page.locator("#workbench :is(h1, h2)").first).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "de"
    return [wide for width in WIDTHS for wide in _overflow(page, width)] + violations(page)


def _overflow(page: Page, width: int) -> list[str]:
    page.set_viewport_size({"width": width, "height": 900})
    turn = "way => { document.documentElement.dir = way; return document.documentElement.scrollWidth }"
    wide = {way: page.evaluate(turn, way) for way in ("rtl", "ltr")}
    return [f"{pixels} pixels wide at {width}, {way}" for way, pixels in wide.items() if pixels > width]
