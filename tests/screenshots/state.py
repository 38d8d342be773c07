"""What is photographed: after what, who opens which address, in which language, and what they do there first."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from playwright.sync_api import Page

from tests.screenshots.sheet import LOOKS, Look

World = dict[str, User]
Act = Callable[[Page], None]


def nothing(_given: World | Page) -> None:
    """The world as it is; the page as it opens."""


@dataclass(frozen=True)
class State:
    """`who` is a role, or nobody; `given` is what happened before, `act` what is done before the picture.

    `whole`: the page in its full height, else what a window shows of it.
    """

    name: str
    address: str
    who: str | None = "manager"
    act: Act = nothing
    given: Callable[[World], object] = nothing
    language: str = ""
    looks: tuple[Look, ...] = LOOKS
    whole: bool = True

    def in_german(self) -> "State":
        return replace(self, name=f"german-{self.name}", language="de")

    def from_right_to_left(self) -> "State":
        def act(page: Page) -> None:
            self.act(page)
            from_right_to_left(page)

        return replace(self, name=f"right-to-left-{self.name}", act=act)

    def at(self, *looks: Look) -> "State":
        return replace(self, looks=looks)


def from_right_to_left(page: Page) -> None:
    page.evaluate("document.documentElement.dir = 'rtl'")
