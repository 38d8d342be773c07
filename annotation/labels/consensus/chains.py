"""The votes on a solution as a chain of steps up to its first error, and the posterior of such chains. Pure numpy."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prm.consensus import Step, Vote
from prm.vocabulary import RATINGS

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Ballot = tuple[
    int, tuple[tuple[str, int], ...]
]  # of a step: its known class or -1, and the (person, class) votes on it
Chain = tuple[str, tuple[Ballot, ...]]  # the domain, and the steps in order
CLASSES, BAD = len(RATINGS), RATINGS.index(-1)
NEVER = 1e-9  # in place of zero, whose logarithm is not finite
IMPOSSIBLE = -1e3  # the logarithm of the likelihood of what a known step rules out


def link(votes: Sequence[Vote], settled: Mapping[Step, int]) -> Iterator[tuple[list[Step], Chain]]:
    """The chains of the voted steps, with the steps of each.

    If the labels of a solution stop at their first error, its sampled steps form one chain, because nobody labels the
    steps after that error. Every other step is a chain by itself. The order of the votes on a solution does not matter.
    """
    by_solution: dict[Hashable, list[Vote]] = defaultdict(list)
    for vote in votes:
        by_solution[vote.solution].append(vote)
    for mine in by_solution.values():
        mine.sort(key=lambda vote: (vote.alternative > 0, vote.position, vote.alternative, vote.person, vote.rating))
        ballots: dict[Step, list[tuple[str, int]]] = defaultdict(list)
        for vote in mine:
            ballots[vote.step].append((vote.person, RATINGS.index(vote.rating)))
        known = {step: RATINGS.index(settled[step]) if step in settled else -1 for step in ballots}
        sampled = [step for step in ballots if not step[2]] if _stops_at_error(mine, settled) else []
        linked = [sampled] if sampled else []
        for steps in [*linked, *([step] for step in ballots if step not in sampled)]:
            yield steps, (mine[0].domain, tuple((known[step], tuple(ballots[step])) for step in steps))


def _stops_at_error(votes: Sequence[Vote], settled: Mapping[Step, int]) -> bool:
    """Whether the truth and every voter stop at the first bad step of the sampled solution."""
    stopped: dict[str | None, int] = {}
    for vote in votes:
        if not vote.alternative:
            for voter, rating in ((vote.person, vote.rating), (None, settled.get(vote.step))):
                if rating is not None and stopped.get(voter, vote.position) < vote.position:
                    return False
                if rating == RATINGS[BAD]:
                    stopped[voter] = vote.position
    return True


@dataclass(frozen=True)
class Ballots:
    """Chains as arrays. Columns of the votes: `step`, `person` and `word` (the chosen class).

    By step: `chain`, `domain`, `known` (a class, -1 if unknown) and `times`, how often such a chain occurs. By chain:
    `start`, the index of its first step. A person or domain outside the mappings has the next index.
    """

    step: Indices
    person: Indices
    word: Indices
    chain: Indices
    domain: Indices
    known: Indices
    times: Array
    start: Indices


def pack(
    chains: Sequence[Chain], people: Mapping[str, int], domains: Mapping[str, int], times: Sequence[int] | None = None
) -> Ballots:
    """The chains as arrays; `times` is how often each occurs, once by default."""
    votes: list[tuple[int, int, int]] = []
    steps: list[tuple[int, int, int, int]] = []
    start = []
    for number, (domain, ballots) in enumerate(chains):
        start.append(len(steps))
        for known, ballot in ballots:
            votes += [(len(steps), people.get(person, len(people)), word) for person, word in ballot]
            steps.append((number, domains.get(domain, len(domains)), known, times[number] if times else 1))
    step, person, word = np.array(votes, dtype=np.intp).reshape(-1, 3).T
    chain, of_domain, known_class, of_chain = np.array(steps, dtype=np.intp).reshape(-1, 4).T
    return Ballots(step, person, word, chain, of_domain, known_class, of_chain.astype(float), np.array(start))


def is_checked(chain: Chain) -> bool:
    """Whether several people voted on the chain, or one of its steps is settled."""
    _, ballots = chain
    several = len({person for _, ballot in ballots for person, _ in ballot}) > 1
    return several or any(known >= 0 for known, _ in ballots)


def expect(ballots: Ballots, prior: Array, confusion: Array, weight: Array) -> Array:
    """The probability [steps, classes + 1] that each step is of each class, or lies after the first bad step.

    `prior` [domains, classes] is of a step that no bad one precedes. The bad class is the last. `confusion` [people,
    classes + 1, words] is how each person rates the steps of each class, and after the first bad one. The logarithm of
    a vote's likelihood is multiplied by its `weight`. A chain ends at its first bad step or has none, so this sums over
    all places of the first error.
    """
    count, classes = len(ballots.chain), prior.shape[1]
    logs = np.log(np.maximum(confusion, NEVER))
    likelihood = np.empty((count, classes + 1))
    for true in range(classes + 1):
        votes = weight * logs[ballots.person, true, ballots.word]
        likelihood[:, true] = np.bincount(ballots.step, weights=votes, minlength=count)
    likelihood[:, :classes] += np.log(prior + NEVER)[ballots.domain]
    settled = np.flatnonzero(ballots.known >= 0)
    likelihood[settled] += IMPOSSIBLE
    likelihood[settled, ballots.known[settled]] -= IMPOSSIBLE
    likelihood -= likelihood[:, classes:]  # relative to a place after the first bad step
    fine = log_sum(likelihood[:, : classes - 1])
    before = _sum_before(ballots, fine)
    ends_here = before + likelihood[:, classes - 1]
    last = np.append(ballots.start[1:], count) - 1
    never_ends = before[last] + fine[last]
    highest = np.maximum(np.maximum.reduceat(ends_here, ballots.start), never_ends)
    here = np.exp(ends_here - highest[ballots.chain])
    total = np.add.reduceat(here, ballots.start) + np.exp(never_ends - highest)
    bad = here / total[ballots.chain]
    after = np.clip(_sum_before(ballots, bad), 0, 1)
    among_fine = np.exp(likelihood[:, : classes - 1] - fine[:, None]) * np.clip(1 - after - bad, 0, 1)[:, None]
    return np.column_stack([among_fine, bad, after])


def survive(ballots: Ballots, bad: Array) -> Array:
    """The probability [steps] that no earlier step of the chain is bad, if each is `bad` unless an earlier one is."""
    fine: Array = np.exp(_sum_before(ballots, np.log1p(-np.minimum(bad, 1 - NEVER))))
    return fine


def _sum_before(ballots: Ballots, values: Array) -> Array:
    """The sum of the values of earlier steps in the same chain."""
    sums = np.concatenate([[0.0], np.cumsum(values)])[:-1]
    earlier: Array = sums - sums[ballots.start][ballots.chain]
    return earlier


def count_votes(ballots: Ballots, truth: Array, weight: Array, people: int, words: int) -> Array:
    """The number [people, classes + 1, words] of each person's votes by the class of the step, weighted."""
    counts = np.empty((people, truth.shape[1], words))
    places = ballots.person * words + ballots.word
    for true in range(truth.shape[1]):
        votes = weight * truth[ballots.step, true]
        counts[:, true] = np.bincount(places, weights=votes, minlength=people * words).reshape(people, words)
    return counts


def shares(counts: Array) -> Array:
    divided: Array = counts / counts.sum(axis=-1, keepdims=True)
    return divided


def log_sum(logs: Array) -> Array:
    highest = logs.max(axis=-1, keepdims=True)
    summed: Array = np.log(np.exp(logs - highest).sum(axis=-1)) + highest[..., 0]
    return summed
