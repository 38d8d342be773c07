"""Post a policy's samples to a project, like a sampling, search or RL run:

`STEPMARK_TOKEN=... python -m examples.post_solutions http://127.0.0.1:8000 my-project`. The token needs the scope
`admin`. The sandbox's policy stands for yours. You can send a batch again at any time: the response calls existing
solutions duplicates.
"""

import argparse
import itertools
import os
import sys
from collections.abc import Iterator
from typing import Any

from examples.setting import held_out, is_right, policy_server
from prm.sandbox.solving import final_answer
from prm.search import Endpoint, Prefix
from stepmark import ApiError, Client

POLICY, TEMPERATURE, SEED = "sandbox-weak", 0.8, 1
A_BATCH = 200


def samples(problems: int, each: int) -> Iterator[dict[str, Any]]:
    """Solutions in the API's format, with outcomes from the sandbox."""
    asked = held_out(problems)
    with policy_server() as url:
        policy = Endpoint(url, POLICY)
        written = policy.sample([Prefix(problem.problem) for problem in asked], n=each, seed=SEED)
    for problem, solutions in zip(asked, written.samples, strict=True):
        for number, sample in enumerate(solutions):
            yield {
                "id": f"{problem.problem_id}-{SEED}-{number}",
                "problem": problem.problem,
                "domain": problem.domain,
                "answer": problem.reference_answer,
                "steps": [{"text": step.text, "kind": step.kind} for step in sample.steps],
                "final_answer": final_answer(sample.steps),
                "outcome": "correct" if is_right(sample.steps, problem) else "wrong",
                "outcome_source": "grader",
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server")
    parser.add_argument("project", help="address (slug) of the project")
    parser.add_argument("--problems", type=int, default=20)
    parser.add_argument("--samples", type=int, default=4, help="of each problem")
    parser.add_argument("--run", default="example")
    options = parser.parse_args()
    if "STEPMARK_TOKEN" not in os.environ:
        parser.error("set STEPMARK_TOKEN to a token of the page API tokens")
    try:
        post(options)
    except ApiError as error:
        sys.exit(f"Error: {error}")


def post(options: argparse.Namespace) -> None:
    """Post the samples and print what became of them. Raises ApiError."""
    made = {
        "policy": POLICY,
        "temperature": TEMPERATURE,
        "seed": SEED,
        "prompt": "{problem}",
        "visibility": "raw",
        "run": options.run,
    }
    client = Client(options.server, os.environ["STEPMARK_TOKEN"])
    waiting = samples(options.problems, options.samples)
    while batch := list(itertools.islice(waiting, A_BATCH)):
        answer = client.post_solutions(options.project, batch, provenance=made)
        print(", ".join(f"{answer[name]} {name}" for name in ("accepted", "duplicates", "rejected")))
        for one in answer["solutions"]:
            if one["state"] == "rejected":
                print(f"  {one['id']}: {one['field']} {one['reason']}")


if __name__ == "__main__":
    main()
