"""The parts of a dataset card on method: guidelines, how solutions were chosen, consensus, and known failures."""

from collections.abc import Mapping
from typing import Any

from annotation.labels.datasets.markdown import cell, quote, table
from annotation.models import Dispute, GuidelineVersion, LabelBatch, Snapshot
from prm.consensus import CONSENSUS, Measured
from prm.messages import write_share

WEIGHTS = """\
Each drawn label states its `lane`, its `generation` and `inclusion`: the probability that the draw chose its solution,
and the weight that undoes it. The weight is 1 / probability (Horvitz and Thompson 1952), not normalised.

- On average, the weights of a complete lane sum to the number of solutions that it was drawn from. For a mean over
  those, divide by the sum of the weights (Hajek 1971).
- Weigh each lane of each generation by itself. Share the weight of a solution equally among its labels there.
- Lanes are drawn one after another, each from the solutions that earlier lanes have left.
- A partly labelled lane lacks its last items and is not a fair sample.
- Pinned items, gold and reviewers' decisions were not drawn. They have no weight."""


def guidelines(snapshot: Snapshot) -> str:
    """The number of labels by version, and the text of each version in the snapshot that the project has."""
    counts = snapshot.counts.get("guidelines", {})
    if not any(counts):
        return "## Guidelines\n\nThe labels do not state a version of the guidelines."
    rows = {number or "not known": labels for number, labels in counts.items()}
    numbers = [int(number) for number in counts if number]
    versions = snapshot.project.guideline_versions.filter(number__in=numbers).order_by("number")
    parts = [table("Guidelines", "version", "annotations", rows), *map(_version, versions)]
    if _has_stated(snapshot, "guidelines"):
        parts.append("Labels from files state the versions of the project that they came from, not of this one.")
    return "\n\n".join(parts)


def _version(version: GuidelineVersion) -> str:
    examples = [
        f"- {example.rating}: {cell(example.step)}" + (f" ({cell(example.why)})" if example.why else "")
        for example in version.rated_examples
    ]
    written = "\n\n".join(part for part in (version.text, "\n".join(examples)) if part)
    return f"### Version {version.number}, from {version.created_at:%Y-%m-%d}\n\n{quote(written) or '(empty)'}"


def choices(snapshot: Snapshot) -> str:
    """How each lane of each generation was drawn, its probabilities and its weights."""
    draws = snapshot.counts.get("draws", [])
    if not draws:
        return "## How solutions were chosen\n\nNo label states a draw: its solution came to people in another way."
    recipes = {generation.number: generation.recipe.lanes for generation in snapshot.project.generations.all()}
    rows = {}
    for draw in draws:
        recipe = recipes.get(draw["generation"], {}).get(draw["lane"])
        origin = f"{recipe.drawn} of {recipe.from_}, {recipe.how}" if recipe else "not known"
        rows[f"{draw['generation']}, {draw['lane']}"] = (
            f"{origin} | {draw['solutions']} | {_span(draw['least'], draw['most'])} | {draw['weight']:.1f}"
        )
    head = "drawn | labelled solutions here | inclusion probability | sum of weights"
    parts = [table("How solutions were chosen", "generation, lane", head, rows, columns=5), WEIGHTS]
    if _has_stated(snapshot, "inclusion"):
        parts.append("Labels from files state the draws of the project that they came from, not of this one.")
    return "\n\n".join(parts)


def _has_stated(snapshot: Snapshot, field: str) -> bool:
    """Whether labels from files in the project state the field, so that its numbers may be another project's."""
    return snapshot.project.annotations.filter(stated__has_key=field).exists()


def consensus(snapshot: Snapshot) -> str:
    name = snapshot.filters.get("consensus", "shares")
    weighting = f" ({CONSENSUS.get(name).title})" if name in CONSENSUS else ""
    parts = [
        f"## Consensus\n\nMethod: `{name}`{weighting}. `consensus` in the records has the probability of each rating "
        "of a step. A reviewer's decision overrides all votes. An unsure step is not a vote."
    ]
    fit = snapshot.fit
    if fit is not None and fit.report is not None:
        report, kinds = fit.report, ", ".join(fit.source_kinds) or "all"
        parts.append(
            f"Fit {fit.number} (`{fit.sha256[:12]}`, `consensus_fit` in the records) of {report.labels} labels on "
            f"{report.solutions} solutions, source kinds: {kinds}. Temperature: {report.temperature:.2f}."
        )
        if gold := report.gold:
            parts.append(
                f"Steps decided by gold or a reviewer ({gold.steps} on {gold.solutions} solutions), inferred from the "
                f"other labels: {_estimate(gold.accuracy)} right; by majority vote {_estimate(gold.majority)}. "
                f"Log loss {gold.nll:.2f} nats per step. The fits that were measured did not know these decisions."
            )
    return "\n\n".join(parts)


def _estimate(measured: Measured) -> str:
    return f"{write_share(measured.value, 1)} ({write_share(measured.low, 1)} to {write_share(measured.high, 1)})"


def known_failures(snapshot: Snapshot) -> str:
    """What the platform knows to be wrong or in doubt with the labels."""
    counts, project, made = snapshot.counts, snapshot.project, snapshot.created_at
    finished, ratings = counts["finish_reasons"], counts["ratings"]
    disputes = project.disputes.filter(state=Dispute.State.UPHELD, resolved_at__lte=made).count()
    batches = project.label_batches.filter(state=LabelBatch.State.SET_ASIDE, decided_at__lte=made).count()
    included = snapshot.filters.get("set_aside") == "included"
    facts = [
        f"Steps that annotators saw but could not rate (unsure): {_share(ratings, 'unsure')}.",
        f"Labels that the annotator gave up: {_share(finished, 'give_up')}. Problems reported as bad: "
        f"{_share(finished, 'bad_problem')}.",
        f"Disputes in which a reviewer found the reference of a problem wrong: {disputes} in the project.",
        f"Batches of labels that were set aside as unreliable: {batches} in the project. This dataset "
        + ("includes them." if included else "leaves them out."),
    ]
    return "## Known failures\n\n" + "\n".join(f"- {fact}" for fact in facts)


def _share(counts: Mapping[str, Any], name: str) -> str:
    number, whole = counts.get(name, 0), sum(counts.values())
    return f"{number} of {whole} ({write_share(number / whole, 1)})" if whole else "0"


def _span(least: float, most: float) -> str:
    low, high = f"{least:.3g}", f"{most:.3g}"
    return low if low == high else f"{low} to {high}"
