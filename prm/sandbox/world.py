"""The generated world: problems with known solutions, split by source group, deterministic by seed.

A problem's source group is its skill and its text without numbers, so numeric variants are in one group, as by a rule
that knows only the text. A hash of the group assigns it permanently to the pool, the calibration set, the holdout, or
the corpus of the tiny backbone.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, islice, repeat
from random import Random

from prm.sandbox import skills  # noqa: F401  (declares the skills)
from prm.sandbox.work import SKILLS, Habits, Skill, Work
from prm.traces import Step, Trace
from prm.vocabulary import SPLITS, Split

WORLD_VERSION = 1
GENERATORS = {
    "sandbox-weak": Habits(
        mistake=0.12, misconception=0.50, cancel=0.12, aside=0.05, disputed=0.02, unconventional=0.15
    ),
    "sandbox-medium": Habits(
        mistake=0.08, misconception=0.35, cancel=0.12, aside=0.05, disputed=0.02, unconventional=0.15
    ),
    "sandbox-strong": Habits(
        mistake=0.045, misconception=0.20, cancel=0.12, aside=0.05, disputed=0.02, unconventional=0.15
    ),
}
CORPUS_HABITS = Habits(mistake=0.02, aside=0.05, disputed=0.02, unconventional=0.01)
BELIEVED = (0.3, 0.8)
SHARES = {"pool": 0.4, "calibration": 0.1, "holdout": 0.2, "corpus": 0.3}
MOST_DRAWS = 2000


@dataclass(frozen=True)
class WorldConfig:
    """The parameters of the world. The defaults are the frozen world; figures are comparable only with them.

    `zipf` is the exponent of the skills' frequencies within a domain, `solutions` the maximum per problem. `errors`
    multiplies the chance of every mistake. `pool_zipf` and `pool_errors` override them for the pool, which then differs
    from the other splits. `aside` is the chance of an empty step before each other step (None: the generators' own,
    0.05).
    """

    seed: int = 0
    zipf: float = 1.0
    solutions: int = 3
    errors: float = 1.0
    pool_zipf: float | None = None
    pool_errors: float | None = None
    aside: float | None = None
    domains: dict[str, float] = field(default_factory=lambda: {"math": 0.5, "programs": 0.25, "agents": 0.25})


def skill_weights(world: WorldConfig, use: str = "") -> dict[str, float]:
    """The probability of every skill among problems of a use, by Zipf's law within its domain; sums to 1."""
    zipf = world.zipf if use != "pool" or world.pool_zipf is None else world.pool_zipf
    weights: dict[str, float] = {}
    for domain, share in world.domains.items():
        names = sorted(name for name, skill in SKILLS.items() if skill.domain == domain)
        Random(f"{world.seed}/{domain}/share").shuffle(names)
        total = sum(1 / rank**zipf for rank in range(1, len(names) + 1))
        weights |= {name: share / rank**zipf / total for rank, name in enumerate(names, start=1)}
    return weights


def habits_of(world: WorldConfig, generator: str, split: Split) -> Habits:
    """The habits of a generator for the problems of a split."""
    habits = GENERATORS[generator]
    errors = world.errors if split != "pool" or world.pool_errors is None else world.pool_errors
    return replace(
        habits,
        mistake=min(1.0, habits.mistake * errors),
        misconception=min(1.0, habits.misconception * errors),
        aside=habits.aside if world.aside is None else world.aside,
    )


def source_group(skill: str, problem: str) -> str:
    """The group of a problem: its skill and a hash of its text without numbers."""
    template = re.sub(r"\d+", "#", problem)
    return f"{skill}/{hashlib.sha256(template.encode()).hexdigest()[:8]}"


def use_of(world: WorldConfig, group: str) -> str:
    """The use of a source group: a split, or "corpus"."""
    digest = hashlib.sha256(f"{world.seed}/{group}".encode()).digest()
    point = int.from_bytes(digest[:8]) / 2**64
    for use, share in SHARES.items():
        if point < share:
            return use
        point -= share
    return "corpus"


def generate(world: WorldConfig, *, split: Split, n: int, seed: int = 0) -> Iterator[Trace]:
    """Yield n labelled traces of a split; the solutions of one problem are consecutive.

    `labels` are None after the first error, as from an annotator who stops there; `meta["truth"]` rates every step,
    given the earlier ones.
    """
    if split not in SPLITS:
        raise ValueError(f"no split is named {split!r}; use pool, calibration or holdout")
    counts = (1 + number % world.solutions for number in count())
    return islice(_solutions(world, split, seed, counts), n)


def generate_pools(world: WorldConfig, *, split: Split, problems: int, samples: int, seed: int = 0) -> Iterator[Trace]:
    """Yield `samples` labelled solutions of each of the first problems of a split: pools for best-of-N.

    The first ones of a pool are those that `generate` yields for that problem.
    """
    return _solutions(world, split, seed, repeat(samples, problems))


def posed(world: WorldConfig, *, split: Split, seed: int = 0) -> Iterator[tuple[Skill, str, Work]]:
    """Endless problems of a split, as `generate` draws them: the skill, the seed of the story, the right solution."""
    for skill, story, clean, _ in _problems(world, split, seed):
        yield skill, story, clean


def corpus(world: WorldConfig, *, n: int, seed: int = 0) -> Iterator[tuple[str, list[Step]]]:
    """Yield n unlabelled solutions as (problem, steps), from source groups that are in no split.

    The share with a skill's misconception varies by skill between the two values of BELIEVED: on average a
    misconception is as frequent as the truth, so that its fluency is uninformative.
    """
    for number, (skill, story, clean, _) in enumerate(_problems(world, "corpus", seed)):
        if number == n:
            return
        believed = Random(f"{world.seed}/{skill.name}/believed").uniform(*BELIEVED)
        habits = replace(CORPUS_HABITS, misconception=believed)
        work = _solve(skill, story, Random(f"{world.seed}/corpus/{seed}/{number}"), habits, clean)
        yield work.problem, work.steps


def _solutions(world: WorldConfig, split: Split, seed: int, counts: Iterable[int]) -> Iterator[Trace]:
    """Yield the solutions of each problem in turn, as many as its count."""
    for number, (n, (skill, story, clean, group)) in enumerate(
        zip(counts, _problems(world, split, seed), strict=False)
    ):
        problem_id = f"{split}-{seed}-{number}"
        for solution in range(n):
            generator = Random(f"{problem_id}/{solution}/who").choice(list(GENERATORS))
            hand = Random(f"{world.seed}/{problem_id}/{solution}")
            work = _solve(skill, story, hand, habits_of(world, generator, split), clean)
            yield _trace(work, skill, clean, f"{problem_id}-{solution}", problem_id, group, split, generator)


def _problems(world: WorldConfig, use: str, seed: int) -> Iterator[tuple[Skill, str, Work, str]]:
    """Endless problems of one use: the skill, the seed of the story, the clean solution, the group."""
    weights = skill_weights(world, use)
    draw = Random(f"{world.seed}/{use}/{seed}")
    while True:
        skill = SKILLS[draw.choices(list(weights), list(weights.values()))[0]]
        for _ in range(MOST_DRAWS):
            story = f"{world.seed}/{use}/{seed}/{draw.getrandbits(64)}"
            clean = _solve(skill, story, Random(0), Habits(), None)
            group = source_group(skill.name, clean.problem)
            if use_of(world, group) == use:
                break
        else:
            raise RuntimeError(f"skill {skill.name} has no source group for {use} in this world")
        yield skill, story, clean, group


def _solve(skill: Skill, story: str, hand: Random, habits: Habits, clean: Work | None) -> Work:
    work = Work(Random(story), hand, habits, clean.values if clean else ())
    skill.solve(work)
    return work


def _trace(
    work: Work, skill: Skill, clean: Work, id: str, problem_id: str, group: str, split: Split, generator: str
) -> Trace:
    first_error = work.errors[0][0] if work.errors else -1
    right = work.final == clean.final
    kinds = [kind for _, kind in work.errors]
    reached = len(work.steps) if first_error < 0 else first_error + 1
    return Trace(
        id=id,
        problem=work.problem,
        steps=work.steps,
        problem_id=problem_id,
        source_group=group,
        split=split,
        domain=skill.domain,
        generator=generator,
        labels=[label if i < reached else None for i, label in enumerate(work.labels)],
        first_error=first_error,
        reference_answer=clean.final,
        final_answer_correct=right,
        meta={
            "skill": skill.name,
            "error_kind": ("cancelling" if kinds[1:] and right else kinds[0]) if kinds else None,
            "unconventional": work.unconventional,
            "ambiguous": work.disputed,
            "truth": [label.rating for label in work.labels],
        },
    )
