"""The input of a scripted person: counts every key and click, and waits only for the page."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from playwright.sync_api import Locator, Page


class Labelled(msgspec.Struct):
    """The effort for a solution. Each key of a chord counts; seconds run until the next solution can be labelled."""

    number: int
    steps: int
    keys: int = 0
    clicks: int = 0
    seconds: float = 0.0

    @property
    def strokes(self) -> int:
        return self.keys + self.clicks


class Hands:
    """Presses and clicks on a page; counts those within `on` for one solution."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._at: Labelled | None = None

    @contextmanager
    def on(self, number: int, steps: int) -> Iterator[Labelled]:
        """Count keys, clicks and seconds of a solution within the block, with the wait for the next one."""
        self._at = Labelled(number, steps)
        begun = time.perf_counter()
        yield self._at
        self._at.seconds = time.perf_counter() - begun
        self._at = None

    def press(self, chord: str) -> None:
        """Press a key, or a chord such as `Control+Enter`."""
        self.page.keyboard.press(chord)
        if self._at:
            self._at.keys += len(chord.split("+"))

    def click(self, place: Locator) -> None:
        place.click()
        if self._at:
            self._at.clicks += 1
