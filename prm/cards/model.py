"""A model card: the model, the origin of its data, its evaluations and its known weaknesses. No torch.

Unknown facts are "not recorded", never guessed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import msgspec

from prm.answers.noise import AnswerNoise
from prm.cards.tables import evaluation_tables
from prm.evaluation import Report, Slice
from prm.evaluation.best_of_n import BestOfN
from prm.evaluation.evaluation import Evaluation
from prm.evaluation.metrics import format_metric, short
from prm.evaluation.prmbench import PRMBenchReport
from prm.manifest import Costs, Counts, EstimateCounts, GradedCounts, Manifest, Provenance
from prm.messages import Message, write_share
from prm.trust import Trust
from prm.vocabulary import MACHINES

ENOUGH = 10  # solutions of a slice; with fewer, its figure is noise


def weaknesses(evaluation: Evaluation) -> list[str]:
    """The slices where the model is worst, and those where it is no better than a baseline."""
    sentences: list[str] = []
    if evaluation.steps is not None:
        sentences += _of_steps(evaluation.steps)
    if evaluation.prmbench is not None:
        sentences += _of_prmbench(evaluation.prmbench)
    if evaluation.best_of_n is not None:
        sentences += _of_best_of_n(evaluation.best_of_n)
    return sentences


def _of_steps(report: Report) -> Iterator[str]:
    whole = report.overall
    for kind, slices in {
        "domain": report.by_domain,
        "generator": report.by_generator,
        "number of steps": report.by_length,
    }.items():
        known = {name: part for name, part in slices.items() if _f1(part) is not None and part.n_solutions >= ENOUGH}
        if len(known) > 1:
            name = min(known, key=lambda one: _f1(known[one]) or 0.0)
            worst = known[name]
            f1, n = format_metric(worst.processbench_f1), worst.n_solutions
            yield f"By {kind} the lowest ProcessBench F1 is {f1}: {name or 'not named'}, {Message('n_solutions', n=n)}."
    for name, metric in {"position": whole.index_auroc, "length": whole.length_auroc}.items():
        if metric.value is None or whole.step_auroc.low is None:
            continue
        baseline = max(metric.value, 1 - metric.value)  # in the better direction
        if whole.step_auroc.low <= baseline:
            auroc = format_metric(whole.step_auroc)
            yield f"Step AUROC {auroc} is not clearly above that of a step's {name} alone, {short(baseline)}."
    if whole.n_unscored_steps:
        steps = Message("n_steps", n=whole.n_unscored_steps)
        solutions = Message("n_solutions", n=whole.n_missed)
        yield f"Without a score: {steps} of {solutions}. Each such solution is a miss."
    if whole.raw_ece is not None and (whole.raw_ece.value or 0) < (whole.ece.value or 0):
        before, after = format_metric(whole.raw_ece), format_metric(whole.ece)
        yield f"Temperature made calibration worse here: ECE {before} before, {after} after."


def _of_prmbench(report: PRMBenchReport) -> Iterator[str]:
    scores = {
        name: part.prm_score.value for name, part in report.categories.items() if part.prm_score.value is not None
    }
    if len(scores) > 1:
        name = min(scores, key=lambda one: scores[one] or 0.0)
        yield f"The lowest PRMScore is {format_metric(report.categories[name].prm_score)}: {name}."


def _of_best_of_n(report: BestOfN) -> Iterator[str]:
    last = report.points[-1]
    for name, metric in last.selected.items():
        if metric.value is not None and metric.value < (last.majority.value or 0):
            majority = format_metric(last.majority)
            yield f"Best of {last.n} by {name} is {format_metric(metric)}, below majority vote, {majority}."


def _f1(part: Slice) -> float | None:
    return part.processbench_f1.value


UNKNOWN = "not recorded"
SHOWN = 8  # names in a list of counts
FITTED_ON = {
    "calibration": "the calibration split",
    "validation": "source groups of the pool that were set aside",
    "labels": "labelled solutions of another file",
    "grades": "the graded final answers of another file",
    "distilled": "the data of the model that it was distilled from",
    "none": "nothing: too little data, so the defaults apply",
}


class About(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Facts about a model that only people know, in their words."""

    human_labels: str = ""
    tool_scaffold: str = ""
    deployment_monitor: str = ""


@dataclass(frozen=True)
class Audit:
    """A summary in Markdown, inserted unchanged, and a sentence for each failed audit."""

    summary: str
    failures: Sequence[str] = ()


def model_card(
    manifest: Manifest,
    *,
    evaluations: Sequence[Evaluation] = (),
    audits: Sequence[Audit] = (),
    about: About | None = None,
) -> str:
    """The card as Markdown."""
    words = about or About()
    provenance = manifest.counts.provenance
    lines = ["# Process reward model", "", *_model(manifest)]
    lines += ["", "## Training data", "", *_data(manifest.counts, provenance, words)]
    lines += ["", "## Labels", "", *_labels(manifest, provenance, words)]
    lines += ["", "## Evaluation", "", *_tested(evaluations)]
    for audit in audits:
        lines += ["", audit.summary.strip()]
    lines += ["", "## Known weaknesses", "", *_remaining(manifest.counts, evaluations, audits)]
    lines += ["", "## In use", "", f"- Deployment monitor: {words.deployment_monitor or UNKNOWN}."]
    return "\n".join(lines) + "\n"


def _model(manifest: Manifest) -> list[str]:
    config, counts = manifest.config, manifest.counts
    outcome = (
        f"an ensemble of {config.heads} heads predicts p(the final answer is right) at the last step, trained on "
        f"{counts.right_answers} right and {counts.wrong_answers} wrong answers (weight {config.outcome_weight:g})"
        if config.outcome_weight
        else "none: no score was trained on final answers"
    )
    process = (
        f"an ensemble of {config.heads} heads predicts p(a step is correct, given that the earlier steps are), "
        f"{config.classes} classes, neutral ratings count as {config.neutral} (weight {config.process_weight:g})"
        if config.process_weight
        else "none: step scores are those of the outcome part"
    )
    # The card does not reveal this machine's paths.
    base = PurePath(manifest.base).name if PurePath(manifest.base).is_absolute() else manifest.base
    return [
        f"- Trained {manifest.created_at} in {manifest.seconds:.0f} s, lane `{config.lane}`, seed {config.seed}.",
        f"- Base model: `{base}` (sha256 {manifest.base_sha256[:12]}), "
        + ("frozen." if config.lane == "heads" else f"tuned ({config.lane})."),
        f"- Process part: {process}.",
        f"- Outcome part: {outcome}.",
        *([f"- Graded answers: {_graded(manifest.graded, config.graded_weight)}."] if manifest.graded else []),
        *_estimated(manifest.estimated, config.estimate_weight),
        f"- Temperature {manifest.temperature:.3f} and first-error threshold {manifest.threshold} were fitted on "
        f"{FITTED_ON[manifest.fitted_on]} ({Message('n_solutions', n=counts.held_solutions)}).",
        *_trust(manifest.trust),
        *([f"- Training cost: {_costs(manifest.costs)}."] if manifest.costs else []),
        *(f"- During training: {note}." for note in manifest.notes),
    ]


def _graded(graded: GradedCounts, weight: float) -> str:
    noise = graded.noise
    despite, without = _rates(noise.overall)
    return (
        f"{graded.right} unread solutions with a right and {graded.wrong} with a wrong answer taught the step heads "
        f"(weight {weight:g}); among {noise.right} labelled right answers {despite} were taken to have an error, and "
        f"among {noise.wrong} wrong ones {without} to have none"
    )


def _rates(noise: AnswerNoise) -> tuple[str, str]:
    """How often an answer is right despite an error, and wrong without one."""
    return write_share(noise.right_despite_error, 1), write_share(noise.wrong_without_error, 1)


def _estimated(estimated: EstimateCounts | None, weight: float) -> list[str]:
    if estimated is None:
        return []
    noise = estimated.noise
    despite, without = _rates(noise.overall)
    return [
        f"- Monte Carlo estimates: {estimated.solutions} unread solutions with {estimated.steps} estimated steps "
        f"taught the step heads (weight {weight:g}). Training assumed that a rollout is right from "
        f"{despite} of the prefixes with an error ({noise.wrong} were labelled), and that none is from {without} of "
        f"those without one ({noise.right})."
    ]


def _trust(trust: Trust | None) -> list[str]:
    """The two limits in words, if the model has them."""
    domain, abstention = (trust.domain, trust.abstention) if trust else (None, None)
    lines = [
        f"- Out of domain: limits set on {domain.solutions} held-out solutions to flag "
        f"{write_share(domain.false_alarms)} of familiar ones; the model gives no verdict on flagged text."
        if domain
        else f"- Out of domain: {UNKNOWN}."
    ]
    if abstention is None:
        return [*lines, f"- Abstention: {UNKNOWN}."]
    target, confidence = write_share(abstention.target), write_share(abstention.confidence)
    aim = f"that {target} of the verdicts given are right (confidence {confidence})"
    of_all = write_share(abstention.accuracy_without)
    if abstention.bar is None:
        return [
            *lines,
            f"- Abstention: always, because no limit ensures {aim}; of all, {of_all} are.",
        ]
    return [
        *lines,
        f"- Abstention: above an uncertainty of {abstention.bar:.3f}, so {aim}; on {abstention.solutions} held-out "
        f"solutions {write_share(abstention.coverage)} are below it and {write_share(abstention.accuracy)} of these "
        f"verdicts are right (of all: {of_all}).",
    ]


def _costs(costs: Costs) -> str:
    """The costs in words; rates are those of the stage with the most tokens through the backbone."""
    phrases = [
        f"{costs.processes} x {costs.device}",
        f"peak memory {costs.peak_memory_bytes / 1e9:.2f} GB {costs.memory_kind}",
    ]
    main = max(costs.stages.values(), key=lambda stage: stage.tokens or 0, default=None)
    if main is not None and main.tokens_per_second is not None:
        phrases.append(
            f"{main.tokens_per_second:,.0f} useful tokens/s, {write_share(main.utilisation, 1)} of "
            f"{costs.peak_flops / 1e12:.2f} TFLOP/s ({costs.peak_source}), {write_share(main.padded_share, 1)} padding"
        )
    if costs.energy_joules is not None:
        phrases.append(f"{costs.energy_joules / 3600:.2f} Wh ({costs.energy_source})")
    return "; ".join(phrases)


def _data(counts: Counts, provenance: Provenance | None, words: About) -> list[str]:
    errors = f", {counts.bad:.0f} of them errors ({write_share(counts.bad / counts.steps)})" if counts.steps else ""
    beside = f" and {counts.alternatives} alternatives beside their paths" if counts.alternatives else ""
    lines = [
        f"- Trained on {Message('n_solutions', n=counts.solutions)} of {Message('n_problems', n=counts.problems)}"
        f"{beside}; labelled: {Message('n_steps', n=counts.steps)}{errors}; steps without a label are not used.",
        f"- Policy models that generated the solutions: {_listed(provenance.generators if provenance else {})}.",
        f"- Domains: {_listed(provenance.domains if provenance else {})}.",
    ]
    if counts.by_position:
        shares = (
            f"{name}: {write_share(place.bad / place.steps)} of {place.steps}"
            for name, place in counts.by_position.items()
        )
        lines.append(f"- Errors by position in the solution, from 1: {', '.join(shares)}.")
    if counts.left_out:
        lines.append(
            f"- Excluded, because their problems are in the calibration split: "
            f"{Message('n_solutions', n=counts.left_out)}."
        )
    tools = f" {provenance.with_tools} of {provenance.solutions} solutions have tool steps." if provenance else ""
    return [*lines, f"- Tool scaffold: {words.tool_scaffold or UNKNOWN}.{tools}"]


def _labels(manifest: Manifest, provenance: Provenance | None, words: About) -> list[str]:
    if provenance is None:
        return [f"- Human labels: {words.human_labels or UNKNOWN}.", f"- Automated judges: {UNKNOWN}."]
    kinds = provenance.label_sources
    by_people = kinds.get("human", 0)
    human = "none recorded"
    if by_people:
        solutions, people = Message("n_solutions", n=by_people), Message("n_people", n=provenance.people)
        human = f"{solutions}, by {people} known by pseudonym"
    if provenance.pairs:
        share = provenance.agreeing_pairs / provenance.pairs
        human += (
            f"; {write_share(share)} of {provenance.pairs} pairs of labels of one solution name the same first error"
        )
    elif by_people:
        human += f"; their agreement is {UNKNOWN}"
    others = {kind: n for kind, n in kinds.items() if kind and kind not in {"human"} | MACHINES}
    lines = [f"- Human labels: {human}.{' ' + words.human_labels if words.human_labels else ''}"]
    judged = bool(MACHINES & kinds.keys())
    judges = _listed(provenance.machines) if judged else "none recorded" if "" not in kinds else UNKNOWN
    lines.append(f"- Automated judges, Monte Carlo estimates and heuristics: {judges}.")
    if others:
        lines.append(f"- Other sources: {_listed(others)}.")
    if kinds.get(""):
        lines.append(f"- The source of the labels of {Message('n_solutions', n=kinds[''])} is {UNKNOWN}.")
    return [*lines, f"- Data sha256 {manifest.data_sha256[:12]}."]


def _tested(evaluations: Sequence[Evaluation]) -> list[str]:
    if not evaluations:
        return ["No evaluation is recorded."]
    tables = [f"### {one.data}\n\n{evaluation_tables(one)}" for one in evaluations]
    return ["\n".join(tables), "Intervals are 95 %, from resamples of whole problems."]


def _remaining(counts: Counts, evaluations: Sequence[Evaluation], audits: Sequence[Audit]) -> list[str]:
    lines = [f"- {one.data}: {sentence}" for one in evaluations for sentence in weaknesses(one)]
    lines += [f"- Audit: {sentence}" for audit in audits for sentence in audit.failures]
    if counts.not_scored:
        lines.append(f"- {counts.not_scored} steps of the training data were beyond the context and were not used.")
    if not evaluations:
        lines.append("- Unknown: the model was not evaluated.")
    if not audits:
        lines.append("- Unknown: the model was not audited for shortcuts in its scores.")
    return lines or ["- None in these evaluations, which show only what they test."]


def _listed(counts: Mapping[str, int]) -> str:
    """ "a (120), b (7), not recorded (3)": names with counts, unknown ones last."""
    named = [f"{name} ({n})" for name, n in counts.items() if name]
    rest = [f"{len(named) - SHOWN} more"] if len(named) > SHOWN else []
    missing = [f"{UNKNOWN} ({counts['']})"] if counts.get("") and named else []
    return ", ".join([*named[:SHOWN], *rest, *missing]) or UNKNOWN
