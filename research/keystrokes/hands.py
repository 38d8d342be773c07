"""The hands of a scripted person: every key and click counts, and takes no longer than the page needs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from playwright.sync_api import Locator, Page


class Labelled(msgspec.Struct):
    """What labelling one solution took. Each key of a chord counts; seconds run until the next one can be worked on."""

    number: int
    steps: int
    keys: int = 0
    clicks: int = 0
    seconds: float = 0.0

    @property
    def strokes(self) -> int:
        return self.keys + self.clicks


class Hands:
    """Presses and clicks on a page; what they do between `on` and its end is counted for one solution."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._at: Labelled | None = None

    @contextmanager
    def on(self, number: int, steps: int) -> Iterator[Labelled]:
        """Count what is done within for a solution; within, too, falls the wait for the next one."""
        self._at = Labelled(number, steps)
        begun = time.perf_counter()
        yield self._at
        self._at.seconds = time.perf_counter() - begun
        self._at = None

    def press(self, chord: str) -> None:
        """A key, or keys held together: `Control+Enter`."""
        self.page.keyboard.press(chord)
        if self._at:
            self._at.keys += len(chord.split("+"))

    def click(self, place: Locator) -> None:
        place.click()
        if self._at:
            self._at.clicks += 1
