"""The skills of the world: declared where they are written, listed here."""

from collections.abc import Callable
from dataclasses import dataclass

from prm.sandbox.work import Work


@dataclass(frozen=True)
class Skill:
    """One kind of problem: its name, its domain and the function that poses and solves it on a sheet."""

    name: str
    domain: str
    solve: Callable[[Work], None]


SKILLS: dict[str, Skill] = {}


def skill(domain: str) -> Callable[[Callable[[Work], None]], Callable[[Work], None]]:
    """Declares a function as a skill of a domain, under the function's name."""

    def declare(solve: Callable[[Work], None]) -> Callable[[Work], None]:
        name = solve.__name__
        if name in SKILLS:
            raise ValueError(f"two skills are named {name}")
        SKILLS[name] = Skill(name, domain, solve)
        return solve

    return declare
