"""A button that cannot be undone asks first, and does nothing if the answer is no."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Dialog, Page, expect

from annotation.models import ApiToken
from tests.factories import MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_token_is_revoked_only_after_a_yes(open_for: Callable[..., Page]) -> None:
    page = open_for(UserFactory())
    asked: list[str] = []
    answers = iter([Dialog.dismiss, Dialog.accept])

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        next(answers)(dialog)

    page.on("dialog", answer)
    page.goto("/tokens/")
    page.get_by_label("Name", exact=True).fill("sampling job")
    page.get_by_label("read: data and results").check()
    page.get_by_role("button", name="Create a token").click()
    revoke = page.get_by_role("button", name="Revoke sampling job")
    revoke.click()
    expect(revoke).to_be_visible()
    assert ApiToken.objects.filter(revoked_at=None).exists()
    revoke.click()
    expect(page.get_by_text("The token is revoked.")).to_be_visible()
    assert len(asked) == 2
    assert asked[0].startswith("Revoke this token?")


def test_a_member_is_removed_only_after_a_yes(open_for: Callable[..., Page]) -> None:
    manager = MembershipFactory(role="manager")
    other = MembershipFactory(project=manager.project)
    page = open_for(manager.user)
    page.goto(f"/p/{manager.project.slug}/members/")
    page.once("dialog", Dialog.dismiss)
    button = page.get_by_role("button", name=f"Remove {other.user.username}")
    button.click()
    other.refresh_from_db()
    assert other.active
    page.once("dialog", Dialog.accept)
    button.click()
    expect(page.get_by_text("is no longer a member")).to_be_visible()
