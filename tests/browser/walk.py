"""Walks through a page by Tab alone: the order of the stops, and whether the focus is visible."""

from itertools import pairwise
from typing import Any

from playwright.sync_api import Page

MOST_STOPS = 400
BAND = 8  # pixels by which boxes of one row may stand above another

# Where Tab goes on from is kept even when nothing has the keyboard.
TO_THE_TOP = "document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')"
HERE = """() => {
    const one = document.activeElement;
    if (!one || one === document.body) return null;
    one.dataset.stop ??= String(document.querySelectorAll("[data-stop]").length);
    const { left, right, top, height } = one.getBoundingClientRect();
    const told = one.outerHTML.slice(0, 120);
    return { stop: one.dataset.stop, told, left, right, top: top + scrollY, bottom: top + scrollY + height };
}"""
# What can be worked and is in sight, and was not come to; of radio buttons Tab comes to one a group.
LEFT_OUT = """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
    .filter((one) => one.tabIndex >= 0 && !one.disabled && one.type !== "radio" && one.dataset.stop === undefined)
    .filter((one) => one.checkVisibility({ visibilityProperty: true }))
    .map((one) => one.outerHTML.slice(0, 120))"""
# An outline of two pixels or more, of the place or of the box around it, that stands out from its ground (WCAG 1.4.11).
UNSEEN = """() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const lightness = (colours) => {
        for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((value) => {
            const share = value / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (one) => {
        const colours = [];
        for (let at = one; at; at = at.parentElement) colours.unshift(getComputedStyle(at).backgroundColor);
        return colours;
    };
    const fault = (one) => {
        one.focus({ preventScroll: true });
        const around = [one, one.parentElement, one.parentElement?.parentElement].filter(Boolean);
        const ringed = around.find((box) => {
            const { outlineStyle, outlineWidth } = getComputedStyle(box);
            return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
        });
        if (!ringed) return "shows nothing where the keyboard is";
        const { outlineColor, outlineOffset } = getComputedStyle(ringed);
        const under = ground(parseFloat(outlineOffset) < 0 ? ringed : ringed.parentElement);
        const [darker, lighter] = [lightness(under), lightness([...under, outlineColor])].sort((a, b) => a - b);
        const contrast = (lighter + 0.05) / (darker + 0.05);
        return contrast < 3 ? `has an outline of contrast ${contrast.toFixed(2)}` : null;
    };
    return [...document.querySelectorAll("[data-stop]")].filter((one) => one.isConnected).flatMap((one) => {
        const said = fault(one);
        return said ? [`${one.outerHTML.slice(0, 120)} ${said}`] : [];
    });
}"""
MOVING = """() => [...document.querySelectorAll("*")].flatMap((one) => [one, "::before", "::after"].map((of) => {
    const style = of === one ? getComputedStyle(one) : getComputedStyle(one, of);
    const lasting = (times) => times.split(",").some((time) => parseFloat(time) > 0);
    const animated = style.animationName !== "none" && lasting(style.animationDuration);
    const moves = animated || lasting(style.transitionDuration) || style.scrollBehavior === "smooth";
    return moves ? one.outerHTML.slice(0, 120) : null;
})).filter(Boolean)"""


def stops(page: Page) -> list[dict[str, Any]]:
    """Every stop of Tab from the top of the page until it leaves the page or repeats a stop."""
    width = page.viewport_size["width"] if page.viewport_size else 1280
    page.set_viewport_size({"width": width, "height": page.evaluate("document.documentElement.scrollHeight")})
    page.evaluate(TO_THE_TOP)
    found: list[dict[str, Any]] = []
    while len(found) < MOST_STOPS:
        page.keyboard.press("Tab")
        here = page.evaluate(HERE)
        if here is None or any(here["stop"] == earlier["stop"] for earlier in found):
            break
        found.append(here)
    return found


def faults_of_order(found: list[dict[str, Any]]) -> list[str]:
    """The stops where Tab goes up the page without changing the column, or back within a row; the first is exempt."""
    told = []
    for one, then in pairwise(found[1:]):
        beside = then["top"] < one["bottom"] - BAND and one["top"] < then["bottom"] - BAND
        up = then["bottom"] <= one["top"] + BAND and then["left"] < one["right"]
        if up or (beside and then["right"] <= one["left"]):
            told.append(f"{one['told']} leads back to {then['told']}")
    return told


def faults_of_walk(page: Page) -> list[str]:
    """The faults of a page for people who use Tab and reduced motion, in both themes."""
    found = stops(page)
    told = faults_of_order(found)
    told += [f"Tab never comes to {one}" for one in page.evaluate(LEFT_OUT)]
    if not found or "skip" not in found[0]["told"]:
        told.append("the first stop is not the way past the head of the page")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        told += [f"{theme}: {one}" for one in page.evaluate(UNSEEN)]
    return told + [f"{one} moves" for one in page.evaluate(MOVING)]
