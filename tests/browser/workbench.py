"""The workbench in a browser test: opens it, finds its parts, and reads what the browser stores."""

from contextlib import AbstractContextManager
from typing import Any

from playwright.sync_api import Locator, Page, expect

from annotation.models import Project
from tests.waiting import PATIENCE

LOCAL_STORAGE_FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
KEYS = """async () => {
    const stored = Object.entries(localStorage).filter(([, text]) => text !== "").map(([key]) => key);
    const name = "stepmark";
    if (!window.indexedDB || !(await indexedDB.databases()).some((one) => one.name === name)) return stored;
    const keys = await new Promise((resolve) => {
        const opened = indexedDB.open(name);
        opened.onsuccess = () => {
            const asked = opened.result.transaction("texts").objectStore("texts").getAllKeys();
            asked.onsuccess = () => {
                opened.result.close();
                resolve(asked.result);
            };
        };
    });
    return [...new Set([...stored, ...keys])];
}"""


def open_workbench(page: Page, project: Project, *, problem: int = 1) -> None:
    page.goto(f"/p/{project.slug}/label/")
    expect(problem_of(page)).to_contain_text(f"Problem {problem}:")


def problem_of(page: Page) -> Locator:
    return page.get_by_role("region", name="Problem")


def step(page: Page, number: int) -> Locator:
    return page.locator(f".shown li.step:nth-child({number})")


def saved(page: Page) -> Locator:
    return page.locator("[data-saved=saved]")


def next_in_hand(page: Page) -> Locator:
    """Visible once the solution after this one has arrived: Enter then shows it before the next key."""
    return page.locator("[data-next=in-hand]")


def draft_sent(page: Page) -> AbstractContextManager[Any]:
    """The end of the block waits until the server has stored the draft."""
    return page.expect_response(lambda answer: answer.url.endswith("/draft/") and answer.ok, timeout=PATIENCE * 1000)


def kept_in_browser(page: Page) -> list[str]:
    """The keys of the drafts and the finished work in the browser's storage."""
    keys: list[str] = page.evaluate(KEYS)
    return [key for key in keys if not key.startswith("stepmark:sitting:")]
