"""What the gate of the next round could detect, from the labelled holdout and the comparisons so far."""

from math import sqrt
from typing import Annotated

import msgspec

from annotation.core.bounds import about
from annotation.labels.annotators.batches import in_use
from annotation.models import HIDDEN_LANES, Annotation, Project
from annotation.work.gold.designation import active_gold
from prm.evaluation.sequential import TYPICAL_SPREAD, detectable_gain, solutions_needed
from prm.messages import Message
from prm.vocabulary import FINISHED, MACHINES

WANTED_GAIN = 0.02
LATEST = 10  # comparisons that the spread is taken from


class GatePower(msgspec.Struct, kw_only=True):
    """What the gate can see with the holdout solutions that people have labelled."""

    solutions: Annotated[int, about("Number of holdout solutions that people have labelled.")]
    least: Annotated[int, about("The number of solutions from which the gate measures.")]
    detectable: Annotated[
        float | None, about("The gain in F1 that they show in 80 % of the cases; null if they measure nothing.")
    ]
    wanted: Annotated[float, about("The gain in F1 that the needed solutions show.")]
    needed: Annotated[int, about("The number of solutions that show the wanted gain in 80 % of the cases.")]
    compared: Annotated[int, about("Number of comparisons that the spread is taken from; 0 for a typical one.")]
    sentence: Annotated[Message, about("The forecast in a sentence.")]


def forecast_gate(project: Project) -> GatePower:
    """What the gate could detect if a round started now."""
    policy, solutions = project.policies, _labelled_holdout(project)
    spreads = _spreads(project)
    spread = sqrt(sum(one**2 for one in spreads) / len(spreads)) if spreads else TYPICAL_SPREAD
    needed = max(solutions_needed(WANTED_GAIN, spread, policy.gate_tolerance), policy.gate_min_holdout)
    values = {"n": solutions, "needed": needed, "wanted": 100 * WANTED_GAIN}
    tolerated = 100 * policy.gate_tolerance
    measures = solutions >= policy.gate_min_holdout
    detectable = detectable_gain(solutions, spread, policy.gate_tolerance) if measures else None
    sentence = (
        Message("holdout_too_small_for_gate", least=policy.gate_min_holdout, **values)
        if detectable is None
        else Message("holdout_large_enough", **values)
        if detectable <= WANTED_GAIN
        else Message("gate_power", detectable=100 * detectable, tolerated=tolerated, **values)
    )
    return GatePower(
        solutions=solutions,
        least=policy.gate_min_holdout,
        detectable=detectable,
        wanted=WANTED_GAIN,
        needed=needed,
        compared=len(spreads),
        sentence=sentence,
    )


def _labelled_holdout(project: Project) -> int:
    """How many holdout solutions have a finished label of a person. People may still disagree on some."""
    labels = Annotation.objects.filter(project=project, solution__split="holdout", finish_reason__in=FINISHED)
    gold = active_gold(project).values("solution")
    own = labels.exclude(source__kind__in=MACHINES).exclude(lane__in=HIDDEN_LANES).exclude(solution__in=gold)
    return in_use(own).values("solution").distinct().count()


def _spreads(project: Project) -> list[float]:
    """The spread of the latest comparisons between a challenger and a champion (`detectable_gain`)."""
    versions = project.model_versions.exclude(gate=None).order_by("-number")[:LATEST]
    return [
        version.gate.error * sqrt(version.gate.n)
        for version in versions
        if version.gate is not None and version.gate.error and version.metrics.champion is not None
    ]
