"""The states of the pages of datasets, of a snapshot, and of consensus fits."""

from playwright.sync_api import Page, expect

from annotation.labels.consensus.fits import request_fit, run_fit
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Project
from tests.screenshots.state import State, World


def frozen(world: World) -> None:
    """A snapshot of people's labels, and one of everything."""
    project = Project.objects.get(slug="algebra")
    for filters in ({"source_kinds": ["human"]}, {"min_annotations": 0, "gold": "included"}):
        create_snapshot(by=world["manager"], project=project, filters=filters)


def fitted(world: World) -> None:
    """A consensus fit of few labels, and one of more."""
    project = Project.objects.get(slug="algebra")
    for _ in range(2):
        run_fit(request_fit(by=world["manager"], project=project).pk)


def previewed(page: Page) -> None:
    expect(page.locator("#dataset-preview .figures, #dataset-preview .empty")).to_be_visible()


def filters(page: Page) -> None:
    page.get_by_text("from the purpose; you can change them").click()
    previewed(page)


def menu(page: Page) -> None:
    previewed(page)
    page.get_by_role("button", name="Download").first.click()
    expect(page.get_by_role("link", name="PRM800K", exact=True)).to_be_visible()


STATES = [
    State("datasets", "/p/algebra/datasets/?preset=share", act=previewed, given=frozen),
    State("datasets-filters", "/p/algebra/datasets/", act=filters, given=frozen),
    State("datasets-menu", "/p/algebra/datasets/?preset=archive", act=menu, given=frozen, whole=False),
    State("datasets-snapshot", "/p/algebra/datasets/{snapshot}/", given=frozen),
    State("consensus-fits", "/p/algebra/consensus/", given=fitted),
    State("consensus-fit", "/p/algebra/consensus/2/", given=fitted),
    State("datasets-schedules", "/p/algebra/datasets/schedules/"),
]
