"""Beam search over steps, guided by a verifier (Snell et al. 2024, "Scaling LLM Test-Time Compute", section 5.1).

In each round the policy samples next steps for every beam, the verifier scores them, and the best ones become the beams
of the next round. A finished beam leaves the frontier and becomes a candidate.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from prm.encoding import TEXT_SEPARATOR, render_step
from prm.errors import PolicyError
from prm.messages import Message
from prm.scores import Aggregate
from prm.search.choosing import (
    UNSCORED,
    AnswerOf,
    Candidate,
    SearchResult,
    choose,
    result_of,
    score_samples,
    stated_answer,
)
from prm.search.endpoint import Answers, Cost, Policy, Prefix
from prm.search.verifiers import State, Verifier
from prm.traces import Step


class Budget:
    """A budget of `tokens`, including prompts; None for no limit.

    The maximum cost of a call is reserved before the call. A prompt counts one token per character before the first
    call, and later the rate that the server reported.
    """

    def __init__(self, tokens: int | None) -> None:
        self._left = tokens
        self._per_character = 1.0
        self._usual = 1  # mean tokens of a sample; no call is made with less room per sample

    def affords(self, prefixes: Sequence[Prefix], *, most: int) -> int:
        """The number of samples per prefix that the budget allows, at most `most`."""
        if self._left is None:
            return most
        return max(0, min(most, self._for_samples(prefixes) // (self._usual * len(prefixes))))

    def longest(self, prefixes: Sequence[Prefix], n: int) -> int | None:
        """The maximum number of tokens for each of `n` samples of each prefix."""
        return None if self._left is None else self._for_samples(prefixes) // (n * len(prefixes))

    def spend(self, prefixes: Sequence[Prefix], n: int, cost: Cost) -> None:
        """Subtract the tokens of a call."""
        if self._left is None:
            return
        self._left -= cost.tokens
        self._per_character = max(cost.prompt_tokens, 1) / _characters(prefixes)
        self._usual = max(1, math.ceil(cost.completion_tokens / (n * len(prefixes))))

    def _for_samples(self, prefixes: Sequence[Prefix]) -> int:
        assert self._left is not None, "called for a limited budget only"
        return self._left - math.ceil(self._per_character * _characters(prefixes))


def _characters(prefixes: Sequence[Prefix]) -> int:
    return sum(len(one.problem) + sum(len(render_step(step)) for step in one.steps) for one in prefixes) or 1


ONLY_FALLS: frozenset[Aggregate] = frozenset({"product", "min"})  # a longer solution never scores more


@dataclass(frozen=True)
class Beam:
    """An unfinished solution."""

    steps: tuple[Step, ...]
    state: State

    def candidate(self, complete: bool) -> Candidate:
        return Candidate(self.steps, tuple(score.mean for score in self.state.scores), complete)


def beam_search(
    policy: Policy,
    verifier: Verifier,
    problem: str,
    *,
    width: int = 4,
    expansions: int = 4,
    most_steps: int = 40,
    token_budget: int | None = None,
    by: Aggregate = "product",
    vote: bool = False,
    seed: int = 0,
    answer_of: AnswerOf = stated_answer,
) -> SearchResult:
    """Search with `width` beams and `expansions` next steps per beam and round; the first round samples their product.

    Ends if all beams are finished, if none can beat a finished one (by product or min, which only fall), after
    `most_steps` rounds, or if `token_budget` is too small for another round, whose tokens are reserved in advance. If
    nothing has finished, the best beam is completed in one call; if the budget is too small for that, the result is
    incomplete.
    """
    beams = [Beam((), verifier.begin(problem))]
    finished: list[Beam] = []
    budget = Budget(token_budget)
    cost, rounds = Cost(), 0
    while beams and rounds < most_steps:
        prefixes = [Prefix(problem, beam.steps) for beam in beams]
        n = budget.affords(prefixes, most=expansions if rounds else width * expansions)
        if not n:
            break
        answers = policy.sample(
            prefixes,
            n=n,
            stop=[TEXT_SEPARATOR],
            seed=seed * 1009 + rounds,
            max_tokens=budget.longest(prefixes, n),
        )
        budget.spend(prefixes, n, answers.cost)
        live, ended, verified = _grow(verifier, beams, answers)
        cost += answers.cost + verified
        rounds += 1
        finished += ended
        if not (finished or live):
            break
        beams = _best(live, finished, width, by)
    candidates = [beam.candidate(complete=True) for beam in finished]
    if not candidates:
        candidates, spent = _finish_best(policy, verifier, problem, beams, seed, budget)
        cost += spent
    chosen = choose(candidates, by=by, vote=vote, answer_of=answer_of)
    return result_of(chosen, by=by, answer_of=answer_of, candidates=len(candidates), rounds=rounds, cost=cost)


def _grow(verifier: Verifier, beams: Sequence[Beam], answers: Answers) -> tuple[list[Beam], list[Beam], Cost]:
    """Extend each beam by each of its distinct next steps; returns unfinished beams, finished beams and the cost.

    An empty step finishes a beam.
    """
    live: list[Beam] = []
    finished: list[Beam] = []
    steps: list[tuple[Beam, Step, bool]] = []
    for beam, samples in zip(beams, answers.samples, strict=True):
        different = {" ".join(sample.text.split()): sample for sample in samples if not sample.cut}
        for sample in different.values():
            if sample.hides_reasoning:
                raise PolicyError(Message("beam_search_with_hidden_reasoning"))
            if sample.steps:
                steps.append((beam, sample.steps[0], sample.ended is True))
            elif beam.steps and beam not in finished:
                finished.append(beam)
    states = verifier.extend([(beam.state, step) for beam, step, _ in steps])
    for (beam, step, ended), state in zip(steps, states, strict=True):
        (finished if ended else live).append(Beam((*beam.steps, step), state))
    return live, finished, Cost(steps_verified=len(steps))


def _best(live: Sequence[Beam], finished: Sequence[Beam], width: int, by: Aggregate) -> list[Beam]:
    """The beams of the next round, without those that cannot beat a finished one."""
    ranked = sorted(((beam.candidate(False).score(by), beam) for beam in live), key=lambda pair: -pair[0])
    bar = max((beam.candidate(True).score(by) for beam in finished), default=UNSCORED)
    return [beam for score, beam in ranked[:width] if by not in ONLY_FALLS or bar == UNSCORED or score > bar]


def _finish_best(
    policy: Policy, verifier: Verifier, problem: str, beams: Sequence[Beam], seed: int, budget: Budget
) -> tuple[list[Candidate], Cost]:
    """The best beam completed in one call, or unfinished if the budget is too small."""
    best = beams[0]
    prefixes = [Prefix(problem, best.steps)]
    if not budget.affords(prefixes, most=1):
        return [best.candidate(complete=False)], Cost()
    answers = policy.sample(prefixes, seed=seed * 1009 + 1008, max_tokens=budget.longest(prefixes, 1))
    candidates, verified = score_samples(verifier, problem, best.steps, answers.samples[0])
    return candidates, answers.cost + verified
