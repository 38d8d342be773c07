"""Fits how often a graded final answer misleads about the steps before it. No torch."""

from collections.abc import Iterable, Sequence

import msgspec

from prm.labels import first_error
from prm.traces import Trace

STRENGTH = 10.0  # solutions that a prior counts for, at every level


class AnswerNoise(msgspec.Struct, frozen=True):
    """Two shares: of right answers whose solution has an error, and of wrong answers whose solution has none.

    Both condition on the grade, so that they hold for labels that were chosen by their grade.
    """

    right_despite_error: float
    wrong_without_error: float

    def flawless(self, right: bool) -> float:
        """P(no step is an error | the grade)."""
        return 1 - self.right_despite_error if right else self.wrong_without_error


PRIOR = AnswerNoise(0.15, 0.02)  # between the real sets of grade-school and competition problems


class NoiseRates(msgspec.Struct, frozen=True):
    """The answer noise of all solutions, by domain, and by domain and generator.

    `right` and `wrong` count the labelled solutions with a right and a wrong answer that it was fitted on.
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
    known = [trace for trace in traces if trace.final_answer_correct is not None and first_error(trace) is not None]
    overall = _posterior(known, PRIOR)
    domains: dict[str, AnswerNoise] = {}
    generators: dict[str, dict[str, AnswerNoise]] = {}
    for domain in sorted({trace.domain for trace in known}):
        within = [trace for trace in known if trace.domain == domain]
        domains[domain] = _posterior(within, overall)
        generators[domain] = {
            name: _posterior([trace for trace in within if trace.generator == name], domains[domain])
            for name in sorted({trace.generator for trace in within})
        }
    right = sum(bool(trace.final_answer_correct) for trace in known)
    return NoiseRates(overall, domains, generators, right, len(known) - right)


def _posterior(traces: Sequence[Trace], prior: AnswerNoise) -> AnswerNoise:
    right = [first_error(trace) != -1 for trace in traces if trace.final_answer_correct]
    wrong = [first_error(trace) == -1 for trace in traces if not trace.final_answer_correct]
    return AnswerNoise(_shrunk(right, prior.right_despite_error), _shrunk(wrong, prior.wrong_without_error))


def _shrunk(misleading: Sequence[bool], prior: float) -> float:
    return (sum(misleading) + STRENGTH * prior) / (len(misleading) + STRENGTH)
