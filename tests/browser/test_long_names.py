"""A user name of 150 characters widens no page, and pushes no column of a list out of sight."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db.models import Value
from django.db.models.functions import Concat
from playwright.sync_api import Page, expect

from annotation.models import Membership, Project
from tests import manager_world
from tests.factories import QueueItemFactory

pytestmark = pytest.mark.django_db(transaction=True)

ADDRESSES = (
    "", "labels/", "queue/", "review/", "quality/", "quality/agreement/", "quality/annotators/", "members/", "runs/",
    "jobs/", "import/", "datasets/", "my-work/", "audit/", "disputes/", "review/{solution}/", "solutions/{solution}/",
    "quality/annotators/{member}/", "members/{member}/gold/", "label/",
)  # fmt: skip
WIDTHS = (400, 1280)


def widths(page: Page, address: str) -> dict[str, int]:
    """The width of the page and of the contents of each table at each width of the screen."""
    page.goto(f"/p/algebra/{address}", wait_until="networkidle")
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found[f"{address} at {width}"] = page.evaluate("document.documentElement.scrollWidth")
        tables = page.evaluate("[...document.querySelectorAll('.table')].map(one => one.scrollWidth)")
        found |= {f"table {n} of {address} at {width}": wide for n, wide in enumerate(tables)}
    return found


@pytest.fixture
def project() -> Project:
    people = manager_world.create_people()
    project = manager_world.create_empty_project(people)
    manager_world.fill(project, people)
    item = project.queue_items.first()
    QueueItemFactory(project=project, generation=item.generation, assigned_to=project.memberships.first())
    return project


def test_a_long_name_widens_nothing(page_for: Callable[..., Page], project: Project) -> None:
    manager = User.objects.get(username="manager")
    person = Membership.objects.get(project=project, user__username="annotator")
    solution = project.annotations.filter(annotator=person).first().solution_id
    addresses = [address.format(solution=solution, member=person.pk) for address in ADDRESSES]
    page = page_for(manager)
    before = {name: wide for address in addresses for name, wide in widths(page, address).items()}
    User.objects.update(username=Concat("username", Value("x" * 138)))
    after = {name: wide for address in addresses for name, wide in widths(page, address).items()}
    wider = {name: (before[name], wide) for name, wide in after.items() if wide > before.get(name, wide)}
    assert wider == {}, "\n".join(map(str, wider.items()))

    page.goto("/p/algebra/members/")
    name = page.locator(".menu summary [title]")
    expect(name).to_have_attribute("title", f"manager{'x' * 138}")
    assert name.bounding_box()["width"] < 300
