"""A world of running sums, just large enough to learn from."""

import random

from prm.labels import BAD, GOOD
from prm.traces import Step, Trace


def make_traces(count: int, seed: int, *, split: str = "pool", prefix: str = "t") -> list[Trace]:
    """Running sums of uneven length; in half of them one step gives a wrong sum."""
    rng = random.Random(seed)
    return [_trace(f"{prefix}{i}", rng, split) for i in range(count)]


def _trace(name: str, rng: random.Random, split: str) -> Trace:
    numbers = [rng.randrange(10) for _ in range(rng.randrange(3, 8))]
    error = rng.randrange(len(numbers)) if rng.random() < 0.5 else -1
    steps, labels, total = [], [], 0
    for k, number in enumerate(numbers):
        result = total + number + (rng.randrange(1, 4) if k == error else 0)
        steps.append(
            Step(f"{total} + {number} = {result}" + (" wrong!" if k == error else "") + " so" * rng.randrange(4))
        )
        labels.append(GOOD if error < 0 or k < error else BAD if k == error else None)
        total = result
    return Trace(
        id=name,
        problem=f"Add {', '.join(map(str, numbers))}.",
        steps=steps,
        problem_id=f"p-{name}",
        split=split,
        domain="sums" if rng.random() < 0.5 else "totals",
        labels=labels,
        first_error=error,
    )
