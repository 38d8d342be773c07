"""`probe`: measures a model by best-of-N, faithfulness and cost, on solutions sampled for it."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from prm.commands.common import (
    MODEL_HELP,
    above_zero,
    at_least,
    check_output,
    input_file,
    load_scorer,
    say,
    score_all,
)
from prm.errors import DataError
from prm.files import write_json
from prm.messages import Message
from prm.threshold import UNFITTED
from prm.traces import Trace, write_traces
from prm.vocabulary import SPLITS

WORLD = "world"


def add(commands: Any) -> None:
    parser = commands.add_parser("probe", help="test where a model is fooled and whether a policy's steps matter")
    probes = parser.add_subparsers(required=True, metavar="probe")
    sample = probes.add_parser("sample", help="sample solutions of sandbox problems from a policy")
    sample.add_argument("--policy", required=True, help="world (its solvers, whose errors are known) or a causal LM")
    sample.add_argument("--out", type=Path, required=True, help="write the solutions to this JSONL file")
    sample.add_argument("--problems", type=at_least(1), default=100, help="number of problems")
    sample.add_argument("--samples", type=at_least(1), default=64, help="solutions per problem")
    sample.add_argument("--domains", default="math,programs,agents", help="sandbox domains, separated by commas")
    sample.add_argument("--split", default="holdout", choices=SPLITS, help="split of the problems")
    sample.add_argument("--temperature", type=above_zero, default=1.0, help="sampling temperature of a causal LM")
    sample.add_argument("--seed", type=at_least(0), default=1, help="seed of every random choice")
    sample.set_defaults(run=run_sample)
    best = probes.add_parser("best-of-n", help="measure score and correctness of the chosen solution as N grows")
    best.add_argument("--model", required=True, help=MODEL_HELP)
    best.add_argument(
        "--data", type=input_file, required=True, help="several graded solutions per problem, in any format"
    )
    _add_report(best, run_best_of_n)
    faithfulness = probes.add_parser("faithfulness", help="falsify a step and test whether the answer changes")
    faithfulness.add_argument("--policy", required=True, help="the causal LM that wrote the solutions")
    faithfulness.add_argument("--data", type=input_file, required=True, help="its solutions in any format")
    faithfulness.add_argument("--model", help=f"{MODEL_HELP}; without it, only the policy is probed")
    faithfulness.add_argument(
        "--continuations", type=at_least(1), default=8, help="continuations of each falsified step and control"
    )
    faithfulness.add_argument("--temperature", type=above_zero, default=1.0, help="sampling temperature of a causal LM")
    _add_report(faithfulness, run_faithfulness)
    cost = probes.add_parser("cost", help="compare cost and benefit of step scores with one score per answer")
    cost.add_argument("--model", required=True, help=MODEL_HELP)
    cost.add_argument("--outcome-model", type=Path, help="model folder trained with an outcome weight above 0")
    cost.add_argument(
        "--data", type=input_file, required=True, help="several graded solutions per problem, in any format"
    )
    cost.add_argument("--solutions", type=at_least(1), default=200, help="number of solutions to time")
    _add_report(cost, run_cost, drawn=False)


def _add_report(parser: argparse.ArgumentParser, run: Callable[..., None], *, drawn: bool = True) -> None:
    """The options of a probe that reports."""
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    if drawn:
        parser.add_argument("--picture", type=_picture, help="write the picture to this file: .svg or .png")
    parser.add_argument("--bootstrap", type=at_least(0), default=1000, help="bootstrap resamples for each interval")
    parser.add_argument("--seed", type=at_least(0), default=1, help="seed of every random choice")
    parser.set_defaults(run=run)


def _picture(text: str) -> Path:
    if not text.endswith((".svg", ".png")):
        raise argparse.ArgumentTypeError(f"{text!r} does not end with .svg or .png")
    return Path(text)


def run_sample(options: argparse.Namespace) -> None:
    check_output(options.out)
    count = write_traces(options.out, _sampled(options, options.domains.split(",")))
    say(f"{Message('n_solutions', n=count)} of {Message('n_problems', n=options.problems)}")


def run_best_of_n(options: argparse.Namespace) -> None:
    from prm.probes.overoptimisation import overoptimisation
    from prm.probes.words import overoptimisation_table

    check_output(options.json, options.data)
    check_output(options.picture, options.data)
    scorer = load_scorer(options.model)
    traces = _solutions(options.data)
    report = overoptimisation(traces, score_all(scorer, traces), bootstrap=options.bootstrap, seed=options.seed)
    _report(options, report, overoptimisation_table(report))
    if options.picture:
        from prm.probes.pictures import draw_overoptimisation

        draw_overoptimisation(report, options.picture)


def run_faithfulness(options: argparse.Namespace) -> None:
    from prm.backbones import load_backbone
    from prm.probes.faithfulness import run_trials, summarise
    from prm.probes.words import faithfulness_table
    from prm.sandbox.policy import BackbonePolicy

    check_output(options.json, options.data)
    check_output(options.picture, options.data)
    scorer = load_scorer(options.model) if options.model else None
    policy = BackbonePolicy(load_backbone(options.policy), temperature=options.temperature)
    solutions = _solutions(options.data)
    trials = run_trials(policy, solutions, continuations=options.continuations, seed=options.seed, judge=scorer)
    if not trials:
        raise DataError(Message("nothing_to_falsify", path=options.data))
    report = summarise(
        trials,
        solutions,
        continuations=options.continuations,
        threshold=scorer.threshold if scorer else UNFITTED,
        bootstrap=options.bootstrap,
        seed=options.seed,
    )
    _report(options, report, faithfulness_table(report))
    if options.picture:
        from prm.probes.pictures import draw_faithfulness

        draw_faithfulness(report, options.picture)


def run_cost(options: argparse.Namespace) -> None:
    from prm.probes.cost import Cost, choices, solutions_to_time, training_of, ways_to_score
    from prm.probes.words import cost_table

    check_output(options.json, options.data)
    process = load_scorer(options.model)
    outcome = load_scorer(str(options.outcome_model)) if options.outcome_model else None
    traces = _solutions(options.data)
    timed = solutions_to_time(process, traces, options.solutions)
    models = [("process", process)] + ([("outcome", outcome)] if outcome else [])
    report = Cost(
        n_solutions=len(timed),
        n_steps=sum(len(trace.steps) for trace in timed),
        device=str(process.backbone.device),
        ways=ways_to_score(process, timed),
        training=[training_of(name, scorer) for name, scorer in models if scorer.manifest],
        choices=choices(
            traces,
            score_all(process, traces),
            score_all(outcome, traces),
            bootstrap=options.bootstrap,
            seed=options.seed,
        )
        if outcome
        else [],
    )
    _report(options, report, cost_table(report))


def _solutions(data: Path) -> list[Trace]:
    """The solutions of a file. Raises DataError for a repeated id, since scores belong to ids."""
    from prm.formats.benchmark import read_benchmark

    return read_benchmark([data]).traces


def _report(options: argparse.Namespace, report: object, table: str) -> None:
    say(table)
    if options.json:
        write_json(options.json, report)


def _sampled(options: argparse.Namespace, domains: list[str]) -> Iterator[Trace]:
    from prm.sandbox import WorldConfig, generate_pools

    known = WorldConfig().domains
    if unknown := set(domains) - set(known):
        raise DataError(Message("unknown_sandbox_domain", unknown=", ".join(sorted(unknown)), known=", ".join(known)))
    total = sum(known[name] for name in domains)
    world = WorldConfig(domains={name: known[name] / total for name in domains})
    by_world = options.policy == WORLD
    pools = generate_pools(
        world,
        split=options.split,
        problems=options.problems,
        samples=options.samples if by_world else 1,
        seed=options.seed,
    )
    if by_world:
        return pools
    from prm.backbones import load_backbone
    from prm.sandbox.policy import BackbonePolicy, sample_solutions

    policy = BackbonePolicy(load_backbone(options.policy), temperature=options.temperature)
    return sample_solutions(policy, list(pools), samples=options.samples, seed=options.seed)
