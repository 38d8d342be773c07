"""The terms of the pages, each defined in one or two sentences.

The only home of these definitions: pages link to them by `{% term %}` and `{% terms %}`, and `docs/glossary.md` has the
same text.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import get_language, pgettext_lazy
from django.utils.translation import gettext_lazy as _


class Term(NamedTuple):
    name: str | Promise
    definition: str | Promise


TERMS = {
    "acquisition": Term(
        _("Acquisition"),
        _(
            "Choosing the solutions whose labels should teach the model most. The acquisition function scores "
            "each unlabelled solution by its gain, and the highest gains are the most likely to be drawn."
        ),
    ),
    "adjudication": Term(
        _("Adjudication"),
        _("A reviewer’s decision on a solution that people labelled differently. It overrides the consensus."),
    ),
    "agreement": Term(
        _("Agreement"),
        _(
            "How far annotators of the same solution agree. It is the share of pairs of labels that name the same first"
            " error, or a coefficient that corrects such a share for chance."
        ),
    ),
    "alpha": Term(
        _("Alpha"),
        _(
            "Krippendorff’s alpha: how far any number of annotators agree beyond chance. 1 is full agreement, 0 is "
            "chance, and less is systematic disagreement."
        ),
    ),
    "audit": Term(
        _("Audit"),
        _(
            "An automatic check of a trained model, for example whether harmless edits change its scores. Each "
            "audit ends with a verdict and a finding."
        ),
    ),
    "audit_log": Term(
        _("Audit log"),
        _("The permanent record of who changed what in a project, with the values before and after."),
    ),
    "auprc": Term(
        _("AUPRC"),
        _(
            "Area under the precision–recall curve for finding wrong steps, in hundredths. 100 is perfect; chance"
            " equals the share of wrong steps."
        ),
    ),
    "auroc": Term(
        _("AUROC"),
        _(
            "The probability that the model scores a random correct step above a random wrong one, in hundredths."
            " 100 is perfect and 50 is chance; only steps up to the first error count."
        ),
    ),
    "baseline": Term(
        _("Baseline"),
        _(
            "A simple predictor that a model must beat. The zero-label baseline uses the same language model "
            "before it learns from any label."
        ),
    ),
    "batch": Term(
        _("Batch"),
        _(
            "A run of labels by one annotator or source that suddenly differ from everyone else’s. A manager "
            "keeps the batch or sets it aside."
        ),
    ),
    "blind_arm": Term(
        _("Blind arm"),
        _(
            "The solutions that are drawn to have no hints. Comparing their labels with the others shows how "
            "hints influence people."
        ),
    ),
    "brier": Term(
        _("Brier score"),
        _(
            "The mean squared difference between a score and the outcome (1 for correct, 0 for wrong). 0 is "
            "perfect, and lower is better."
        ),
    ),
    "calibration": Term(
        _("Calibration"),
        _(
            "Adjusting scores so that they are valid as probabilities. The calibration split holds problems used "
            "only for this and for thresholds, never for training."
        ),
    ),
    "calibration_error": Term(
        _("Calibration error"),
        _(
            "How far scores are from observed frequencies on average (ECE), in hundredths. At 5, steps with a "
            "score of 0.8 are correct in about 75 to 85 of 100 cases."
        ),
    ),
    "challenger": Term(
        _("Challenger"),
        _("A newly trained or imported model. The gate compares it with the champion before it may serve."),
    ),
    "champion": Term(
        _("Champion"),
        _("The model that serves: it scores requests and ranks the solutions to label next."),
    ),
    "confidence_interval": Term(
        _("Confidence interval"),
        _(
            "A range that contains the true value in 95 of 100 repetitions of the measurement. A wide interval "
            "means too little data for a firm conclusion."
        ),
    ),
    "consensus": Term(
        _("Consensus"),
        _("The label of a step inferred from everyone’s ratings, weighted by each person’s reliability."),
    ),
    "consensus_fit": Term(
        _("Consensus fit"),
        _(
            "One run of the consensus model on all labels. It has a number, measures each annotator’s reliability, and "
            "never changes. A snapshot names the fit that it used."
        ),
    ),
    "control": Term(
        _("Control"),
        _("The lane of solutions drawn at random. Its labels show what labelling would achieve without acquisition."),
    ),
    "dispute": Term(
        _("Dispute"),
        _("An annotator’s objection to a reference answer. A reviewer decides whether the reference changes."),
    ),
    "f1": Term(
        _("F1"),
        _(
            "ProcessBench F1: the harmonic mean of two accuracies, on solutions with an error (exact first error "
            "found) and without one (none reported). In hundredths; 100 is perfect."
        ),
    ),
    "final_answer": Term(
        _("Final answer"),
        _(
            "The answer at the end of a solution. It is graded as correct or wrong against the reference, by "
            "tests, or by the file it came from."
        ),
    ),
    "first_error": Term(
        _("First error"),
        _("The earliest step that is rated bad. Steps before it are correct, and “none” means the whole solution is."),
    ),
    "gain": Term(
        _("Gain"),
        _(
            "How much a label of this solution is expected to teach the model, in the units of the acquisition "
            "function. Only comparisons within one generation are meaningful."
        ),
    ),
    "gate": Term(
        _("Gate"),
        _(
            "The rule that decides whether a challenger replaces the champion. It compares both on the same "
            "holdout labels."
        ),
    ),
    "generation": Term(
        _("Generation"),
        _(
            "A recorded selection of solutions that goes into the queue together. The first is drawn at random; "
            "later ones are ranked by the champion."
        ),
    ),
    "gold": Term(
        _("Gold"),
        _(
            "Solutions whose first error is known. Hidden in the queue or used for practice, they measure "
            "annotators and never train a model."
        ),
    ),
    "graded_solution": Term(
        _("Graded solution"),
        _(
            "A solution whose final answer is known to be right or wrong. Training can learn from the grade even if "
            "nobody has read the solution. A grade is not a label."
        ),
    ),
    "hint": Term(
        _("Hint"),
        _(
            "A model score shown to an annotator. Hints go to a random share of solutions; the others form the "
            "blind arm, so that their influence can be measured."
        ),
    ),
    "holdout": Term(
        _("Holdout"),
        _("Problems reserved for measuring models. They are never used for training or acquisition."),
    ),
    "inclusion_probability": Term(
        _("Inclusion probability"),
        _(
            "The probability that a solution is drawn into its lane. Weighting labels by its inverse makes "
            "estimates valid for the whole pool."
        ),
    ),
    "informedness": Term(
        _("Informedness"),
        _(
            "How much better than chance someone recognises bad steps. It is the share of bad steps they call bad, "
            "minus the share of other steps they call bad. 1 is perfect and 0 is chance."
        ),
    ),
    "kappa": Term(
        _("Kappa"),
        _(
            "How far annotators agree beyond chance: Cohen’s kappa for two of them, Fleiss’ kappa for more. 1 is full "
            "agreement and 0 is chance."
        ),
    ),
    "label": Term(
        pgettext_lazy("noun", "Label"),
        _(
            "One person’s or program’s answer for one solution: a rating for each step and the first error. A "
            "submitted label never changes; an edit adds a revision."
        ),
    ),
    "label_audit": Term(
        _("Label audit"),
        _(
            "A random solution on a judge’s route that a person labels too, without seeing the judge’s label. Label "
            "audits measure how often judges are right."
        ),
    ),
    "lane": Term(
        _("Lane"),
        _(
            "The reason a solution is in the queue: acquisition, control, holdout, calibration, overlap, pinned, "
            "gold or screening. Annotators never see it."
        ),
    ),
    "lease": Term(
        _("Lease"),
        _("A time-limited claim of one solution by one annotator. When it expires, the solution returns to the queue."),
    ),
    "loss": Term(
        _("Loss"),
        _("The error that training minimises, in nats per labelled step. Lower is better."),
    ),
    "monte_carlo": Term(
        _("Monte Carlo estimate"),
        _("A machine label: the share of continuations from a step that reach the correct answer."),
    ),
    "not_reached": Term(
        _("Not reached"),
        _("A step after the first error that was not rated. It is not the same as unsure."),
    ),
    "overlap": Term(
        _("Overlap"),
        _("The lane of solutions that several people label independently. It shows agreement and reliability."),
    ),
    "pinned": Term(
        _("Pinned"),
        _("A pinned solution comes before the rest of the queue. A pinned model is exempt from automatic deletion."),
    ),
    "policy_model": Term(
        _("Policy model"),
        _("The language model that wrote a solution. It is the model that a process reward model judges or guides."),
    ),
    "pool": Term(
        _("Pool"),
        _(
            "All solutions that are available for labelling and training, excluding the holdout and calibration "
            "problems."
        ),
    ),
    "prm": Term(
        _("Process reward model (PRM)"),
        _(
            "A model that scores every step of a solution, not only its final answer. A step’s score depends on "
            "the problem and on the steps up to it."
        ),
    ),
    "rating": Term(
        _("Rating"),
        _(
            "The answer for one step: good (+1), neutral (0) or bad (−1). Unsure and not reached are separate "
            "states, not ratings."
        ),
    ),
    "reference": Term(
        _("Reference"),
        _("The expected final answer of a problem."),
    ),
    "reliability": Term(
        _("Reliability"),
        _(
            "How far a person’s labels can be trusted, learned from the steps that several people rated. Training"
            " weights each label by it."
        ),
    ),
    "route": Term(
        _("Route"),
        _(
            "Who labels a solution: a person alone, a judge alone, or a judge first and then a person. The person "
            "follows if a judge or the model is unsure, or for a label audit. Rules in the settings choose the route."
        ),
    ),
    "run": Term(
        _("Run"),
        _(
            "One pass of the loop: freeze the labels, train, evaluate, apply the gate, promote, score the pool, "
            "and select the next generation. Also called a round."
        ),
    ),
    "score": Term(
        _("Score"),
        _(
            "The model’s probability that a step is correct, from 0 to 1. A solution’s score combines those of "
            "its steps."
        ),
    ),
    "screening": Term(
        _("Screening"),
        _("Gold solutions that a new annotator must label before any others. Those who pass get access to the queue."),
    ),
    "seed": Term(
        _("Seed"),
        _("The number that starts random draws. The same seed and data give the same result."),
    ),
    "simulation": Term(
        _("Simulation"),
        _(
            "A replay of labelling on a finished snapshot. It shows how many labels each acquisition function "
            "would have needed."
        ),
    ),
    "snapshot": Term(
        _("Snapshot"),
        _(
            "An immutable version of the dataset, identified by a hash of its content. Exports and training read "
            "snapshots."
        ),
    ),
    "solution": Term(
        _("Solution"),
        _("One answer to a problem, split into steps: a chain of reasoning, an agent’s run or a code change."),
    ),
    "source": Term(
        _("Source"),
        _(
            "Where a label comes from: people, simulated people, consensus in a file, model judges, Monte Carlo "
            "estimates or heuristics. Sources are never mixed without saying so."
        ),
    ),
    "split": Term(
        _("Split"),
        _(
            "The part a problem belongs to: pool (training), calibration or holdout. A problem and its variants "
            "always share one split."
        ),
    ),
    "step": Term(
        _("Step"),
        _("One position in a solution: a thought, plan, tool call, observation, edit or answer."),
    ),
    "tolerance": Term(
        _("Tolerance"),
        _("The loss of F1, in points, that the gate accepts before it rejects a challenger."),
    ),
    "threshold": Term(
        _("Threshold"),
        _(
            "The score below which a step counts as an error. It is lower in longer solutions, because they have more "
            "chances of a false alarm."
        ),
    ),
    "unsure": Term(
        _("Unsure"),
        _("The annotator read the step and could not decide. Unsure counts neither as good nor as bad."),
    ),
}

# Words of every page, which need no link.
EVERYDAY = {"label", "solution", "step", "reference", "source", "score"}
# Words with another, common meaning, linked by hand only.
AMBIGUOUS = {"audit", "run", "split", "loss", "seed", "threshold"}


def address_of(key: str) -> str:
    """The address of a term in the glossary."""
    if key not in TERMS:
        raise KeyError(key)
    return f"{reverse('glossary')}#{key}"


def find_terms(text: str, keys: Iterable[str]) -> dict[str, re.Match[str]]:
    """The first place of each term, or its plural, in a text in the reader's language."""
    words, lower = _words(get_language() or ""), text.lower()
    return {key: at for key in keys if words[key][0] in lower and (at := words[key][1].search(text))}


@cache
def _words(language: str) -> dict[str, tuple[str, re.Pattern[str]]]:
    """Each term in lower case, because a search for that is fast, and as a pattern."""
    names = {key: str(term.name).split(" (")[0] for key, term in TERMS.items()}
    return {
        key: (name.lower(), re.compile(rf"\b{re.escape(name)}(?:e?[ns])?\b", re.IGNORECASE))
        for key, name in names.items()
    }


def terms_by_name() -> list[tuple[str, Term]]:
    """Every key with its term, by name in the reader's language."""
    return sorted(TERMS.items(), key=lambda item: str(item[1].name).casefold())


def as_markdown() -> str:
    """The glossary of the documentation."""
    entries = [f"## {term.name}\n\n{term.definition}\n" for _key, term in terms_by_name()]
    return "\n".join(["# Glossary\n", *entries])
