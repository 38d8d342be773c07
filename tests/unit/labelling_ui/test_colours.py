"""Whatever hue a scheme gives an answer, its sign and its words can be read, in light and in dark."""

import re
from pathlib import Path
from typing import get_args

import pytest

import labelling_ui
from annotation.models.scheme import Colour

TOKENS = (Path(labelling_ui.__file__).parent / "static/labelling_ui/css/tokens.css").read_text()
LIGHT, DARK = TOKENS.split("@media (prefers-color-scheme: dark)")
HUES = get_args(Colour)
ENOUGH = 4.5  # of text to its ground: WCAG 2.2, success criterion 1.4.3
PRESSED = 0.14  # of the hue in the ground of the button that was pressed, see rating.css

Rgb = tuple[float, float, float]


def tokens(theme: str) -> dict[str, Rgb]:
    light = _colours(LIGHT)
    return light if theme == "light" else light | _colours(DARK.split("@media")[0])


def _colours(css: str) -> dict[str, Rgb]:
    found = re.findall(r"--([\w-]+): #([0-9a-f]{6});", css)
    return {name: tuple(int(value[at : at + 2], 16) / 255 for at in (0, 2, 4)) for name, value in found}  # type: ignore[misc]


def luminance(colour: Rgb) -> float:
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Rgb, other: Rgb) -> float:
    """From 1 to 21, WCAG 2.2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mixed(part: float, colour: Rgb, ground: Rgb) -> Rgb:
    red, green, blue = (part * c + (1 - part) * g for c, g in zip(colour, ground, strict=True))
    return red, green, blue


def test_known_contrasts() -> None:
    assert contrast((0, 0, 0), (1, 1, 1)) == pytest.approx(21)
    grey = (0x77 / 255,) * 3
    assert contrast(grey, (1, 1, 1)) == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("hue", HUES)
def test_a_hue_is_read_on_every_ground_it_stands_on(hue: str, theme: str) -> None:
    named = tokens(theme)
    colour = named[f"hue-{hue}"]
    pressed = mixed(PRESSED, colour, named["surface"])
    found = {ground: contrast(colour, named[ground]) for ground in ("bg", "surface", "surface-2")}
    found |= {"the pressed button": contrast(colour, pressed)}
    found |= {f"{text} on the pressed button": contrast(named[text], pressed) for text in ("text", "muted")}
    assert {what: round(value, 2) for what, value in found.items() if value < ENOUGH} == {}


def test_both_themes_have_every_hue_and_no_other() -> None:
    dark = {name for name in _colours(DARK) if name.startswith("hue-")}
    light = {name for name in _colours(LIGHT) if name.startswith("hue-")}
    assert light == dark == {f"hue-{hue}" for hue in HUES}


def test_the_pressed_button_is_tinted_as_is_reckoned_here() -> None:
    rating = Path(labelling_ui.__file__).parent / "frontend/src/styles/rating.css"
    assert f"color-mix(in srgb, var(--answer) {PRESSED:.0%}, var(--surface))" in rating.read_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_typed_into_has_an_edge_that_is_seen(theme: str) -> None:
    """WCAG 2.2, success criterion 1.4.11: three to one."""
    assert "--field: color-mix(in srgb, var(--muted) 60%, var(--line));" in TOKENS
    named = tokens(theme)
    edge = mixed(0.6, named["muted"], named["line"])
    assert min(contrast(edge, named[ground]) for ground in ("bg", "surface")) >= 3
