"""Fits how often a graded final answer, or a Monte Carlo estimate, misleads about the steps before it. No torch."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from prm.labels import first_error, step_labels
from prm.traces import Trace

STRENGTH = 10.0  # solutions, or estimated prefixes, that a prior counts for, at every level


class AnswerNoise(msgspec.Struct, frozen=True):
    """Two shares: of right answers whose solution has an error, and of wrong answers whose solution has none.

    Both condition on the grade, so that they hold for labels that were chosen by their grade. For Monte Carlo
    estimates, they are the shares of prefixes with an error from which a rollout is right, and of prefixes without one
    from which none is. These condition on the error, because estimates are too noisy to teach as if they were true.
    """

    right_despite_error: float
    wrong_without_error: float

    def flawless(self, right: bool) -> float:
        """P(no step is an error | the grade)."""
        return 1 - self.right_despite_error if right else self.wrong_without_error

    def evidence_of_grade(self, right: bool, share_right: float) -> float:
        """The likelihood ratio of the grade as a chance: P(no step is an error | the grade) at even odds.

        `share_right` is the share of right answers among the solutions that the grade comes from.
        """
        sound = share_right * self.flawless(True) + (1 - share_right) * self.flawless(False)
        for_sound, for_flawed = self.flawless(right) * (1 - sound), (1 - self.flawless(right)) * sound
        return for_sound / (for_sound + for_flawed)

    def evidence_of_estimate(self, right: float) -> float:
        """As `evidence_of_grade`, of a Monte Carlo estimate. `right` is 1 if a rollout was right, else 0."""
        sound = right * (1 - self.wrong_without_error) + (1 - right) * self.wrong_without_error
        flawed = right * self.right_despite_error + (1 - right) * (1 - self.right_despite_error)
        return sound / (sound + flawed)


PRIOR = AnswerNoise(0.15, 0.02)  # between the real sets of grade-school and competition problems
PRIOR_OF_ESTIMATES = AnswerNoise(0.3, 0.1)  # rollouts recover from errors, and fail on hard problems


class NoiseRates(msgspec.Struct, frozen=True):
    """The answer noise of all solutions, by domain, and by domain and generator.

    `right` and `wrong` count the labelled solutions with a right and a wrong answer that it was fitted on; for Monte
    Carlo estimates, the labelled prefixes without and with an error.
    """

    overall: AnswerNoise = PRIOR
    domains: dict[str, AnswerNoise] = {}
    generators: dict[str, dict[str, AnswerNoise]] = {}
    right: int = 0
    wrong: int = 0

    def of(self, domain: str, generator: str) -> AnswerNoise:
        """The noise of a generator in a domain; of the domain or of all solutions if it has no labels."""
        known = self.generators.get(domain, {}).get(generator)
        return known or self.domains.get(domain, self.overall)

    def share_with_error(self, traces: Iterable[Trace]) -> float | None:
        """The expected share of these solutions that have an error, from their grades; None if none has a grade."""
        chances = [
            1 - self.of(trace.domain, trace.generator).flawless(trace.final_answer_correct)
            for trace in traces
            if trace.final_answer_correct is not None
        ]
        return sum(chances) / len(chances) if chances else None


def fit_noise(traces: Iterable[Trace]) -> NoiseRates:
    """The noise among traces with a known first error and a graded answer.

    Each rate is the mean of a Beta posterior. The prior of the overall rates is PRIOR; a domain's prior is the overall
    posterior, and a generator's that of its domain, each with STRENGTH solutions. So few labels change little.
    """
    cases = [
        _Case(trace.domain, trace.generator, trace.final_answer_correct, error != -1)
        for trace in traces
        if trace.final_answer_correct is not None and (error := first_error(trace)) is not None
    ]
    return _fit(cases, PRIOR, _by_claim, right=sum(case.right > 0 for case in cases))


def fit_estimate_noise(pairs: Iterable[tuple[Trace, Trace]]) -> NoiseRates:
    """The noise of Monte Carlo estimates, from pairs of a labelled trace and the same steps with estimates.

    As `fit_noise`, with a case for each estimated step, and PRIOR_OF_ESTIMATES. A case is flawed if the first error is
    at the step or before it.
    """
    cases = [
        _Case(labelled.domain, labelled.generator, label.good, 0 <= error <= k)
        for labelled, estimated in pairs
        if (error := first_error(labelled)) is not None
        for k, label in enumerate(step_labels(estimated))
        if label is not None
    ]
    return _fit(cases, PRIOR_OF_ESTIMATES, _by_truth, right=sum(not case.flawed for case in cases))


class _Case(NamedTuple):
    """A claim that steps have no error, as certain as `right`, and whether they are flawed."""

    domain: str
    generator: str
    right: float
    flawed: bool


_Posterior = Callable[[Sequence[_Case], AnswerNoise], AnswerNoise]


def _fit(cases: Sequence[_Case], prior: AnswerNoise, posterior: _Posterior, *, right: int) -> NoiseRates:
    overall = posterior(cases, prior)
    domains: dict[str, AnswerNoise] = {}
    generators: dict[str, dict[str, AnswerNoise]] = {}
    for domain in sorted({case.domain for case in cases}):
        within = [case for case in cases if case.domain == domain]
        domains[domain] = posterior(within, overall)
        generators[domain] = {
            name: posterior([case for case in within if case.generator == name], domains[domain])
            for name in sorted({case.generator for case in within})
        }
    return NoiseRates(overall, domains, generators, right, len(cases) - right)


def _by_claim(cases: Sequence[_Case], prior: AnswerNoise) -> AnswerNoise:
    right = [float(case.flawed) for case in cases if case.right]
    wrong = [float(not case.flawed) for case in cases if not case.right]
    return AnswerNoise(_shrunk(right, prior.right_despite_error), _shrunk(wrong, prior.wrong_without_error))


def _by_truth(cases: Sequence[_Case], prior: AnswerNoise) -> AnswerNoise:
    flawed = [case.right for case in cases if case.flawed]
    sound = [1 - case.right for case in cases if not case.flawed]
    return AnswerNoise(_shrunk(flawed, prior.right_despite_error), _shrunk(sound, prior.wrong_without_error))


def _shrunk(misleading: Sequence[float], prior: float) -> float:
    return (sum(misleading) + STRENGTH * prior) / (len(misleading) + STRENGTH)
