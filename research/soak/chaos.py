"""What goes wrong during a soak, and when: drawn once from a seed."""

import random
from dataclasses import dataclass

WORKERS = ("web", "default", "gpu", "score", "beat")
SERVERS = ("Redis", "PostgreSQL")


@dataclass(frozen=True)
class Blow:
    """`kill -9` on a part of the platform, so many seconds after the generation opened; `child` hits who is at work."""

    generation: int
    after: float
    part: str
    child: bool = False

    @property
    def name(self) -> str:
        return f"{self.part}{' (child)' if self.child else ''}"


def plan(*, generations: int, seed: int, kills: int, span: float) -> list[Blow]:
    """`kills` workers a generation at random moments of its first `span` seconds; each server once on the way.

    Every kind of worker is hit before one is hit again, so that a short soak misses none. The servers die in the
    middle generations, one each where there are two.
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
