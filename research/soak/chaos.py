"""The plan of killed processes of a soak test, drawn from a seed."""

import random
from dataclasses import dataclass

WORKERS = ("web", "default", "gpu", "score", "beat")
SERVERS = ("Redis", "PostgreSQL")


@dataclass(frozen=True)
class Blow:
    """A `kill -9` of a part of the platform `after` seconds of a generation; `child` kills a working child process."""

    generation: int
    after: float
    part: str
    child: bool = False

    @property
    def name(self) -> str:
        return f"{self.part}{' (child)' if self.child else ''}"


def plan(*, generations: int, seed: int, kills: int, span: float) -> list[Blow]:
    """`kills` workers in each generation, at random times of its first `span` seconds, and each server once.

    Every kind of worker is killed once before one is killed again, so that a short test includes all. The servers are
    killed in the middle generations, one in each if there are two.
    """
    chance = random.Random(seed)
    parts: list[str] = []
    blows = []
    for generation in range(generations):
        for _ in range(kills):
            if not parts:
                parts = list(WORKERS)
                chance.shuffle(parts)
            part = parts.pop()
            child = part in ("web", "default") and chance.random() < 0.5
            blows.append(Blow(generation, chance.uniform(5, span), part, child))
    middle = list(range(1, max(generations - 1, 2))) or [0]
    for number, part in enumerate(SERVERS):
        generation = min(middle[number % len(middle)], generations - 1)
        blows.append(Blow(generation, chance.uniform(10, span), part))
    return sorted(blows, key=lambda blow: (blow.generation, blow.after))
