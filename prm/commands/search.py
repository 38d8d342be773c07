"""`search`: searches for good answers with a policy and a verifier; JSONL of problems in, solutions out."""

import argparse
import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from prm.answers.process import Grader
from prm.commands.common import (
    MODEL_HELP,
    Progress,
    above_zero,
    at_least,
    check_output,
    input_file,
    load_scorer,
    say,
    zero_or_more,
)
from prm.errors import DataError
from prm.evaluation.metrics import as_metric, draws_of
from prm.formats.trace_files import read_rows
from prm.messages import Message, write_share
from prm.scores import AGGREGATES
from prm.splitting import RULES, Splitting

if TYPE_CHECKING:
    from prm.search import Endpoint, SearchResult, Verifier
    from prm.search.ledger import Problem, Solved

Searching = Callable[..., "SearchResult"]
METHODS = ("best-of-n", "beam", "revise")
BOOTSTRAP = 2000


def add(commands: Any) -> None:
    parser = commands.add_parser("search", help="search for good answers with a policy and a verifier")
    parser.add_argument("method", choices=METHODS, help="how candidates are drawn and chosen")
    policy = parser.add_argument_group("the policy")
    policy.add_argument("--endpoint", required=True, metavar="URL", help="an OpenAI-compatible address, including /v1")
    policy.add_argument("--model", required=True, help="the policy's name on that server")
    policy.add_argument("--api", choices=("chat", "completions"), default="chat", help="API of the endpoint")
    policy.add_argument(
        "--continuation",
        choices=("prefill", "ask"),
        default="prefill",
        help="how chat continues from steps: as a prefix of the assistant message (vLLM, SGLang), or by instruction",
    )
    policy.add_argument("--prompt", default="{problem}", help='the user message, which must contain "{problem}"')
    policy.add_argument(
        "--steps", choices=tuple(RULES), default="blank_lines", help="how solutions are split into steps"
    )
    policy.add_argument(
        "--thinking",
        choices=("drop", "keep"),
        default="drop",
        help="hidden reasoning: leave it out, or keep it as steps",
    )
    policy.add_argument("--api-key-file", type=input_file, help="a file that contains only the key")
    policy.add_argument("--temperature", type=zero_or_more, default=0.8, help="sampling temperature")
    policy.add_argument("--max-tokens", type=at_least(1), default=1024, help="maximum tokens per answer")
    policy.add_argument("--timeout", type=above_zero, default=120.0, help="timeout of one request in seconds")
    policy.add_argument("--concurrency", type=at_least(1), default=8, help="concurrent requests and problems")
    verifier = parser.add_argument_group("the verifier")
    verifier.add_argument("--verifier", required=True, help=f"{MODEL_HELP}; or the address of a Stepmark server")
    verifier.add_argument("--project", metavar="SLUG", help="with a server address: the project whose champion scores")
    verifier.add_argument(
        "--token-file", type=input_file, help="with a server address: a file that contains an API token"
    )
    verifier.add_argument("--aggregate", choices=AGGREGATES, default="product", help="how step scores are aggregated")
    parser.add_argument(
        "--vote",
        action=argparse.BooleanOptionalAction,
        help="solutions vote for their answers, weighted by the cubes of their scores (default: only in best-of-n)",
    )
    parser.add_argument("--n", type=at_least(1), default=8, help="best-of-n: solutions per problem")
    parser.add_argument("--width", type=at_least(1), default=4, help="beam: number of beams")
    parser.add_argument("--expansions", type=at_least(1), default=4, help="beam: next steps sampled per beam")
    parser.add_argument("--most-steps", type=at_least(1), default=40, help="beam: maximum number of steps")
    parser.add_argument("--token-budget", type=at_least(1), help="beam: maximum tokens per problem, prompts included")
    parser.add_argument("--rounds", type=at_least(1), default=3, help="revise: maximum number of revisions")
    parser.add_argument("--tries", type=at_least(1), default=4, help="revise: continuations sampled per revision")
    parser.add_argument("--critique", action="store_true", help="revise: show the policy which step is wrong")
    parser.add_argument(
        "--problems",
        type=input_file,
        required=True,
        help="JSONL, JSON, CSV or Parquet with `problem` and optionally `reference_answer`",
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="write solutions, scores and cost to this JSONL file; a stopped search resumes there",
    )
    parser.add_argument("--seed", type=at_least(0), default=0, help="seed of the sampling")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from prm.search.ledger import Ledger

    check_output(options.out, options.problems, options.api_key_file, options.token_file)
    if options.vote is None:
        options.vote = options.method == "best-of-n"
    settings = _settings(options)
    ledger = Ledger(options.out, _problems(options.problems), settings)
    search = _search(options, _policy(options), _verifier(options))
    with Grader() as grader:
        ledger.fill(
            lambda number, problem: _solve(search, grader, settings, number, problem), options.concurrency, Progress()
        )
    for line in _summary(ledger.solved):
        say(line)
    ledger.close()


def _problems(path: Path) -> list["Problem"]:
    """The distinct problems of the file, in order."""
    from prm.search.ledger import Problem

    problems = {one.problem: one for one in reversed(list(read_rows(path, Problem)))}
    if not problems:
        raise DataError(Message("file_without_records", path=path))
    return list(reversed(problems.values()))


def _settings(options: argparse.Namespace) -> str:
    """A hash of the options that change the result. The policy's address and the concurrency do not."""
    names = (
        "method", "model", "api", "continuation", "prompt", "temperature", "max_tokens", "steps", "thinking",
        "verifier", "project", "aggregate", "vote", "n", "width", "expansions", "most_steps", "token_budget",
        "rounds", "tries", "critique", "seed",
    )  # fmt: skip
    return hashlib.sha256(msgspec.json.encode({name: getattr(options, name) for name in names})).hexdigest()[:16]


def _policy(options: argparse.Namespace) -> "Endpoint":
    from prm.search import Endpoint, Sampling
    from prm.search.endpoint import read_key

    return Endpoint(
        options.endpoint,
        options.model,
        api=options.api,
        continuation=options.continuation,
        prompt=options.prompt,
        splitting=Splitting(options.steps, options.thinking),
        sampling=Sampling(temperature=options.temperature, max_tokens=options.max_tokens),
        api_key=read_key(options.api_key_file),
        timeout=options.timeout,
        concurrency=options.concurrency,
    )


def _verifier(options: argparse.Namespace) -> "Verifier":
    from prm.search.endpoint import read_key
    from prm.search.verifiers import LocalVerifier, ServiceVerifier

    if not options.verifier.startswith(("http://", "https://")):
        return LocalVerifier(load_scorer(options.verifier))
    if options.project is None:
        raise DataError(Message("verifier_needs_project"))
    return ServiceVerifier(options.verifier, project=options.project, token=read_key(options.token_file))


def _search(options: argparse.Namespace, policy: "Endpoint", verifier: "Verifier") -> Searching:
    from prm.search import beam_search, best_of_n, revise

    match options.method:
        case "best-of-n":
            method: Searching = partial(best_of_n, n=options.n, vote=options.vote)
        case "beam":
            method = partial(
                beam_search,
                width=options.width,
                expansions=options.expansions,
                most_steps=options.most_steps,
                token_budget=options.token_budget,
                vote=options.vote,
            )
        case _:
            method = partial(revise, rounds=options.rounds, tries=options.tries, critique=options.critique)
    return lambda problem, seed: method(
        policy, verifier, problem, by=options.aggregate, seed=options.seed * 1_000_003 + seed
    )


def _solve(search: Searching, grader: Grader, settings: str, number: int, problem: "Problem") -> "Solved":
    from prm.search.ledger import Solved, name_of

    result = search(problem.problem, number)
    correct = None
    if problem.reference_answer:  # an empty cell of CSV is none
        correct = grader.agrees(result.steps[-1].text if result.steps else "", problem.reference_answer)
    return Solved(name_of(number, problem), problem.problem, result, correct, settings)


def _summary(solved: list["Solved"]) -> Iterator[str]:
    if not solved:
        return
    graded = [one.correct for one in solved if one.correct is not None]
    if graded:
        shares = draws_of(len(graded), BOOTSTRAP, 0) @ np.array(graded, dtype=np.float32) / len(graded)
        right = as_metric(shares)
        value, low, high = (write_share(one, 1) for one in (right.value, right.low, right.high))
        yield f"{value} correct (95 %: {low} to {high}) of {Message('n_problems', n=len(graded))}"
    costs = [one.result.cost for one in solved]
    per = len(solved)
    tokens = sum(cost.completion_tokens for cost in costs) / per
    calls = sum(cost.calls for cost in costs) / per
    steps = sum(cost.steps_verified for cost in costs) / per
    yield f"per problem: {tokens:,.0f} tokens sampled in {calls:.1f} calls, {steps:.1f} steps verified"
    if unmetered := sum(cost.unmetered for cost in costs):
        yield f"the server did not report the tokens of {unmetered} calls"
