"""Dataset cards: what was labelled, by whom and how."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from annotation.labels.datasets import card_methods
from annotation.labels.datasets.contamination import contamination_of
from annotation.labels.datasets.filters import describe_filters
from annotation.labels.datasets.markdown import cell, table
from annotation.labels.datasets.plans import Plan, plan_export
from annotation.models import Snapshot
from prm.contamination import ContaminationReport
from prm.exporters import EXPORTERS
from prm.messages import write_share

SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
)
LARGEST = "100M<n<1B"
TASKS = ["text-classification"]  # of each step; the Hub has no task of its own for it
TAGS = ["process-reward-model", "reasoning", "step-labels", "stepmark"]

KINDS = {
    "human": "people",
    "simulated": "simulated annotators (programs)",
    "consensus": "a consensus that came with the file",
    "model_judge": "model judges",
    "monte_carlo": "Monte Carlo estimates (how recoverable a state is, not whether a step is right)",
    "heuristic": "heuristics",
}
NO_PEOPLE = "–"
NOT_STATED = "not stated"
NEUTRAL = {
    "positive": "count as good steps (`true`)",
    "negative": "count as bad steps (`false`)",
    "drop": "end the line before them",
}


def dataset_card(
    snapshot: Snapshot,
    *,
    neutral: str = "positive",
    splits: Collection[str] | None = None,
    mixed_kinds: str = "refuse",
) -> str:
    """The card of a snapshot, in Markdown with a YAML header; the options are those of the export it describes."""
    counts = snapshot.counts
    sections = [
        card_header(snapshot),
        f"# {snapshot.project.name}: labelled reasoning steps",
        f"Solutions: {counts['solutions']}. Problems: {counts['problems']}. Annotations: {counts['annotations']}. "
        f"Ratings: {sum(counts['ratings'].values())}.\n\nContent SHA-256: `{snapshot.sha256}`. "
        f"Made {snapshot.created_at:%Y-%m-%d %H:%M} UTC.\n\n"
        f"Licence: {snapshot.project.policies.card.licence or NOT_STATED}.",
        _supervision(counts),
        _people(snapshot),
        _reliability(counts),
        _hints(counts),
        card_methods.guidelines(snapshot),
        card_methods.choices(snapshot),
        card_methods.consensus(snapshot),
        card_methods.known_failures(snapshot),
        table("Ratings", "rating", "steps", counts["ratings"]),
        table("Error types", "type", "steps", counts.get("error_types", {})),
        table("Other answers about steps", "answer", "steps", counts.get("dimensions", {})),
        table("Progress of solutions at their first error", "of 4", "annotations", counts.get("progress", {})),
        table("Finish reasons", "reason", "annotations", counts["finish_reasons"]),
        table("Splits", "split", "solutions", counts["splits"])
        + "\n\nSplits are by problem: numeric variants of a problem share one. Train on `pool`, fit thresholds on "
        "`calibration`, and keep `holdout` for measuring.",
        table("Domains", "domain", "solutions", counts["domains"]),
        table("Generators", "policy model", "solutions", counts.get("policies", {})),
        table("Visibility of the reasoning", "visibility", "solutions", counts.get("visibilities", {})),
        table("Final answers", "outcome (by whom)", "solutions", counts.get("outcomes", {})),
        _graded(counts),
        _estimated(counts),
        table("Lanes", "lane", "annotations", counts["lanes"]),
        _contamination(snapshot),
        _filters(snapshot.filters),
        _formats(neutral),
        _losses([plan_export(snapshot, f, neutral=neutral, splits=splits, mixed_kinds=mixed_kinds) for f in EXPORTERS]),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _supervision(counts: Mapping[str, Any]) -> str:
    scheme = [
        "## Labels",
        "Each step is rated good (+1), neutral (0) or bad (-1). *Unsure* (seen, but undecided) and *not reached* are "
        "separate states. The first error is the first step rated bad on the path that the annotator chose.",
        "Only the visible steps were supervised. Annotators did not see reasoning that a model does not show, and the "
        "labels say nothing about it. A visible step can differ from what led the model to its answer.",
    ]
    if counts["own_steps"]:
        scheme.append(f"At {counts['own_steps']} positions the annotator wrote a step; nobody rated those.")
    if accepted := counts.get("accepted"):
        scheme.append(
            f"Steps that were not rated good one by one: {accepted}. One key accepted them, before a first error or as "
            "all remaining steps (`accepted` in the records)."
        )
    return "\n\n".join(scheme)


def _people(snapshot: Snapshot) -> str:
    counts, stated = snapshot.counts, snapshot.project.policies.card
    rows = {
        KINDS[kind]: f"{number} | {counts['people'].get(kind, NO_PEOPLE)}"
        for kind, number in counts["source_kinds"].items()
    }
    parts = [table("Who labelled", "kind", "annotations | people", rows, columns=3)]
    if counts["sources"]:
        parts.append(table("Sources other than people", "source", "annotations", counts["sources"]))
    if len(rows) > 1:
        parts.append("The consensus in this dataset pools these kinds; each annotation states its own.")
    agreement = counts["agreement"]
    if agreement.get("pairs"):
        exact, near = (agreement[name] / agreement["pairs"] for name in ("exact", "within_one"))
        parts.append(
            f"Of pairs of people who decided the first error of one solution ({agreement['pairs']}), "
            f"{write_share(exact)} agree exactly and {write_share(near)} within one step."
        )
    else:
        parts.append("No solution was decided by two people, so their agreement is unknown.")
    parts.append(f"Training of the annotators: {_stated(stated.annotator_training)}")
    parts.append(f"Pay of the annotators: {_stated(stated.annotator_pay)}")
    parts.append("People have random pseudonyms.")
    if snapshot.filters.get("comments") == "included":
        parts.append("The records include comments and reasons as people wrote them. Check them before you share them.")
    else:
        parts.append("Their comments and reasons are left out.")
    if "critique written" in counts.get("dimensions", {}):
        parts.append("Critiques are included as people wrote them. Check them before you share this dataset.")
    return "\n\n".join(parts)


def _stated(text: str) -> str:
    return text.strip() or f"{NOT_STATED}."


def _reliability(counts: Mapping[str, Any]) -> str:
    weighed = counts.get("reliability")
    if not weighed:
        return ""
    rows = {person: _informed(measures) for person, measures in weighed.items()}
    note = (
        "The consensus weights each label by its annotator's reliability, inferred from steps with several ratings or "
        "a known one. Informedness is how much more often they rate bad steps bad than other steps (1 is always right, "
        "0 no better than chance). With few such steps it is close to the average, and its interval is wide."
    )
    head = "informedness | 95 % interval | shared steps"
    return table("Reliability", "annotator or source", head, rows, columns=4) + "\n\n" + note


def _informed(measures: Mapping[str, Any]) -> str:
    interval = " to ".join(f"{end:.2f}" for end in measures["interval"] or ())
    return f"{measures['informedness']:.2f} | {interval or 'not known'} | {measures['shared_steps']}"


def _hints(counts: Mapping[str, Any]) -> str:
    drawn = counts.get("hints")
    if not drawn:
        return ""
    shown, seen, blind = (drawn.get(arm, 0) for arm in ("shown", "seen", "blind"))
    return (
        "## Hints\n\n"
        f"Annotations in the hint arm, with a model's scores beside the steps: {shown} (in {seen} of these, a score "
        f"was seen). In the blind arm: {blind}. All others could not have hints. Training on the hint arm partly "
        "trains on a model's opinion. Each annotation in the records states its arm (`hint`), and the filter "
        '`"hints": "left_out"` leaves the hint arm out, in every format.'
    )


def _graded(counts: Mapping[str, Any]) -> str:
    if "graded" not in counts:
        return ""
    note = (
        "Solutions of the pool that nobody has read. Training learns from the grade of their final answer. They have "
        "no labels and are in no file of this dataset."
    )
    return table("Graded solutions", "final answer", "solutions", counts["graded"]) + "\n\n" + note


def _estimated(counts: Mapping[str, Any]) -> str:
    if "estimated" not in counts:
        return ""
    return (
        "## Monte Carlo estimates\n\n"
        f"Training also learns from Monte Carlo estimates of {counts['estimated']} solutions of the pool, as a source "
        "of their own. They are not step labels, and are in no file of this dataset."
    )


def _contamination(snapshot: Snapshot) -> str:
    """What the checks found; the card says so if there was none."""
    found = [f"- {_overlap(report)}" for report in contamination_of(snapshot)]
    return "## Contamination\n\n" + ("\n".join(found) or "Not checked against any benchmark.")


def _overlap(report: ContaminationReport) -> str:
    repeated = (
        f"{report.duplicates} of {report.distinct_problems} problems are near-duplicates of each other, in "
        f"{report.duplicate_groups} groups, {report.across_splits} of them across splits (MinHash of runs of 5 words)."
    )
    if not report.benchmark:
        return repeated
    problems, solutions, most = report.problems, report.solutions, write_share(report.most)
    return (
        f"`{cell(report.benchmark)}` (SHA-256 `{report.sha256[:12]}`): {problems.found} of {problems.texts} problems "
        f"share a run of {report.long_run} words or {most} of their runs of {report.short_run} words, and "
        f"{solutions.found} of {solutions.texts} solutions share {most}. {repeated}"
    )


def _filters(filters: Mapping[str, Any]) -> str:
    bullets = [f"- {phrase}" for phrase in describe_filters(filters)]
    return "## Filters\n\n" + ("\n".join(bullets) or "None: the latest revision of every annotation.")


def _formats(neutral: str) -> str:
    return (
        "## Formats\n\n"
        "- PRM800K JSONL: one line per annotation, all three classes, alternatives, unsure steps (`rating` null, "
        "`flagged` true) and finish reasons. With `source_kind` and `split`.\n"
        "- TRL stepwise supervision: one line per solution, along the consensus path, up to and including the "
        f"first error. Neutral steps {NEUTRAL[neutral]}. A line ends before a step that is unsure, not "
        "rated, or written by an annotator, because it is neither yes nor no.\n"
        "- CSV, Parquet and the Hugging Face folder: one row per label, with `split` and `source_kind`. The folder "
        "calls the pool `train`, calibration `validation` and the holdout `test`.\n"
        "- All formats but these and the records have neither split nor source kind. Their files have only the pool "
        "unless other splits are requested, and labels of one kind unless several are allowed."
    )


def _losses(plans: Sequence[Plan]) -> str:
    rows = {}
    for plan in plans:
        exporter = EXPORTERS.get(plan.format)
        lost = plan.refusal.message if plan.refusal else "; ".join(plan.sentences()) or "nothing"
        rows[exporter.title] = f"{0 if plan.refusal else plan.solutions} | {lost} | {exporter.version}"
    parts = [table("What each format leaves out", "format", "solutions | left out | writer's version", rows, columns=4)]
    if mixed := {plan.format: plan.mixed_kinds for plan in plans if plan.mixed_kinds and not plan.refusal}:
        kinds = ", ".join(f"{kind}: {n}" for kind, n in next(iter(mixed.values())).items())
        parts.append(
            f"By request, these files mix labels of several source kinds ({kinds}) without saying which is which: "
            + ", ".join(f"`{format}`" for format in mixed)
            + "."
        )
    return "\n\n".join(parts)


def card_header(snapshot: Snapshot) -> str:
    """The header with its marks. A licence and languages that the project does not state are left out."""
    stated, solutions = snapshot.project.policies.card, snapshot.counts["solutions"]
    fields: dict[str, Any] = {
        "pretty_name": f"{snapshot.project.name}: labelled reasoning steps",
        "license": stated.licence,
        "language": stated.languages,
        "task_categories": TASKS,
        "size_categories": [next((size for least, size in SIZES if solutions < least), LARGEST)],
        "tags": TAGS,
    }
    # A JSON value is also a YAML value, except for characters that do not print.
    lines = [f"{name}: {_printable(msgspec.json.encode(value).decode())}" for name, value in fields.items() if value]
    return "\n".join(["---", *lines, "---"])


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())
