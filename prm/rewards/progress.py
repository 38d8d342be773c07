"""Progress: how much a step raises a prover's chance to come to the right answer.

Setlur et al. 2024, "Rewarding Progress: Scaling Automated Process Verifiers for LLM Reasoning": the advantage of a
step under a prover policy, A(s_h, a_h) = Q(s_h, a_h) - Q(s_{h-1}, a_{h-1}) (equation 2), with Q from rollouts. The
prover is another policy than the one that learns, such as best-of-K of it, whose Q is 1 - (1 - q)^K (section 4).
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from prm.search.endpoint import Cost, Policy, Prefix
from prm.traces import Step

Grader = Callable[[str, str], bool | None]  # of a solution's last step and the reference


class Prover:
    """Values of prefixes by `samples` rollouts each; one that was rolled out is not rolled out again.

    `best_of` K makes the prover the policy's best-of-K. `cost` is what the rollouts took. A rollout whose answer
    cannot be told counts as wrong.
    """

    def __init__(self, policy: Policy, grader: Grader, *, samples: int = 8, best_of: int = 4, seed: int = 0) -> None:
        self._policy, self._grader, self._samples, self._best_of = policy, grader, samples, best_of
        self._seed = seed
        self._known: dict[tuple[str, str, tuple[str, ...]], float] = {}
        self.cost = Cost()

    def advantages(
        self, problems: Sequence[str], steps: Sequence[Sequence[Step]], references: Sequence[str]
    ) -> list[list[float]]:
        """A step's advantage for each step of each solution, -1 to 1; they sum to Q at the end minus Q at the start."""
        wanted = [
            (problem, reference, tuple(path[:k]))
            for problem, path, reference in zip(problems, steps, references, strict=True)
            for k in range(len(path) + 1)
        ]
        self._roll_out(wanted)
        differences = []
        for problem, path, reference in zip(problems, steps, references, strict=True):
            values = [self._known[_key(problem, reference, path[:k])] for k in range(len(path) + 1)]
            differences.append([after - before for before, after in pairwise(values)])
        return differences

    def _roll_out(self, wanted: Sequence[tuple[str, str, tuple[Step, ...]]]) -> None:
        fresh = {_key(*one): one for one in wanted if _key(*one) not in self._known}
        prefixes = [Prefix(problem, path) for problem, _, path in fresh.values()]
        answers = self._policy.sample(prefixes, n=self._samples, seed=self._seed)
        self.cost += answers.cost
        for (key, (_, reference, path)), samples in zip(fresh.items(), answers.samples, strict=True):
            right = 0
            for sample in samples:
                whole = [*path, *sample.steps]
                right += bool(whole and not sample.cut and self._grader(whole[-1].text, reference))
            self._known[key] = 1 - (1 - right / len(samples)) ** self._best_of


def _key(problem: str, reference: str, path: Sequence[Step]) -> tuple[str, str, tuple[str, ...]]:
    return problem, reference, tuple(step.text for step in path)


def discounted(advantages: Sequence[float], discount: float) -> float:
    """Their sum, later ones counting less. Undiscounted it says no more than the outcome: it telescopes."""
    return sum(value * discount**place for place, value in enumerate(advantages))
