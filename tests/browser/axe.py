"""The violations that axe-core finds on a page."""

from functools import cache
from typing import Any

from playwright.sync_api import Page

from launch import frontend


@cache
def _script() -> str:
    frontend.install_packages(frontend.SOURCES, frontend.find_node())
    return (frontend.SOURCES / "node_modules" / "axe-core" / "axe.min.js").read_text()


def violations(page: Page) -> list[str]:
    """Serious and critical violations of WCAG 2.2 AA; in the dark theme, those of its colours."""
    page.emulate_media(color_scheme="light")
    page.evaluate(_script())
    light = _run(page, {"resultTypes": ["violations"]})
    page.emulate_media(color_scheme="dark")
    return light + _run(page, {"runOnly": ["color-contrast"]})


def _run(page: Page, options: dict[str, Any]) -> list[str]:
    result = page.evaluate("options => axe.run(options)", options)
    return [
        f"{violation['id']}: {node['html'][:120]} {node['failureSummary'][:160]}"
        for violation in result["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:2]
    ]
