"""A judge of the sandbox's solutions: it reads each step's value, as the solvers do, and knows the right one.

It errs at random, so that comparing it with people shows something: it overlooks some errors, and doubts some right
steps. The same message always gets the same verdict.
"""

import json
import re
from collections.abc import Sequence
from random import Random

from prm.encoding import parse_step
from prm.sandbox.solvers import SolverPolicy, UnknownProblem
from prm.sandbox.solving import Start
from prm.traces import Step

STEP = re.compile(r"<step_(\d+)>\n(.*?)\n</step_\1>", re.DOTALL)
OVERLOOKED, DOUBTED = 0.15, 0.02  # the chance at a wrong and at a right step
REASON = "The value does not follow from the problem and the steps before."


class JudgePolicy:
    """Answers a message that has a problem of the world and its steps, tagged as `<step_0>`, with a verdict in JSON.

    The object has the verdict in each form that a prompt may ask for: `first_error` (-1 for none), `ratings` and
    `steps` with reasons.
    """

    def __init__(self, solver: SolverPolicy) -> None:
        self._solver = solver

    def continue_from(self, starts: Sequence[Start], *, seed: int) -> list[list[Step]]:
        """A reply to each message, always the same; raises UnknownProblem."""
        return [[Step(self._verdict(start.problem))] for start in starts]

    def _verdict(self, message: str) -> str:
        problem = self._solver.known_in(message.partition("<step_0>")[0])
        steps = [parse_step(match[2]) for match in STEP.finditer(message)]
        if problem is None or not steps:
            raise UnknownProblem(f"the text contains no solution of the sandbox: {message[:80]!r}")
        errors, draw = set(self._solver.errors_in(Start(problem, steps))), Random(message)
        wrong = {
            number for number in range(len(steps)) if draw.random() < (1 - OVERLOOKED if number in errors else DOUBTED)
        }
        ratings = [-1 if number in wrong else 1 for number in range(len(steps))]
        entries = [{"step": number, "rating": rating} for number, rating in enumerate(ratings)]
        rated = [entry | ({"reason": REASON} if entry["rating"] == -1 else {}) for entry in entries]
        return json.dumps({"first_error": min(wrong, default=-1), "ratings": ratings, "steps": rated})
