"""Signing in with a name and a password; nobody signs up by themselves."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect


@pytest.fixture
def ada(transactional_db: None) -> User:
    return User.objects.create_user("ada", password="one-two-buckle")


def test_sign_in_by_form(page: Page, ada: User) -> None:
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill("ada")
    page.locator("input[name=password]").fill("one-two-buckle")
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url("**/")
    assert "sessionid" in {cookie["name"] for cookie in page.context.cookies()}


def test_signup_is_closed(page: Page, ada: User) -> None:
    page.goto("/accounts/signup/")
    expect(page.locator("input[name=password1]")).to_have_count(0)


def test_page_for_is_signed_in(page_for, ada: User) -> None:
    page = page_for(ada)
    page.goto("/accounts/password/change/")
    expect(page.locator("input[name=oldpassword]")).to_be_visible()
