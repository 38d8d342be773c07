"""Take the guides' pictures of a fresh demo project that `make run` serves.

python -m docs.screenshots [ADDRESS]    write docs/pictures/{new-project,overview,run,review}.png
"""

import re
import sys

from playwright.sync_api import Browser, sync_playwright

from config.env import BASE_DIR, VAR_DIR
from launch.chromium import find_chromium

PICTURES = BASE_DIR / "docs" / "pictures"
# The picture, who sees it, and the page.
PAGES = [
    ("new-project", "manager", "/projects/new/"),
    ("overview", "manager", "/p/demo/"),
    ("run", "manager", "/p/demo/runs/1/"),
    ("review", "reviewer", "/p/demo/review/"),
]


def take_pictures(browser: Browser, address: str) -> None:
    """Take each picture as its person, in a window of 1280 by 800 pixels."""
    accounts = dict(re.findall(r"^  (\w+) +(\S+)$", (VAR_DIR / "demo_accounts.txt").read_text(), re.MULTILINE))
    for name, person, path in PAGES:
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
        page.goto(f"{address}/accounts/login/")
        page.locator("[name=login]").fill(person)
        page.locator("[name=password]").fill(accounts[person])
        page.locator("[name=password]").press("Enter")
        page.wait_for_url(f"{address}/")
        page.goto(f"{address}{path}")
        if name == "new-project":
            page.get_by_label("An example").check()
            page.get_by_label("Maths problems").check()
            page.locator(".katex").first.wait_for()
        if name == "review":
            page.locator("main tbody a").first.click()
        page.wait_for_load_state("networkidle")
        page.screenshot(path=PICTURES / f"{name}.png")
        page.context.close()


def main() -> None:
    """Open the address and take the pictures."""
    address = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        take_pictures(browser, address)
        browser.close()


if __name__ == "__main__":
    main()
