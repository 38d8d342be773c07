"""Decides the route of each solution of a generation, and draws the audits of the judges' solutions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from django.db.models import Count

from annotation.models import JUDGED_LANES, Annotation, Membership, ModelVersion, PoolScore, Project, Route, Solution
from annotation.models.routing_policy import RouteRule, doubt_of
from annotation.work.queue.items import Selection

STREAM = 1  # of the generation's seed: routes never change the selection


@dataclass(frozen=True)
class Traits:
    """What the conditions of a rule look at. `error` is the champion's probability of an error, None without one."""

    domain: str
    generator: str
    steps: int
    error: float | None = None


def route_selections(
    project: Project, selections: Sequence[Selection], *, model: ModelVersion | None, seed: int
) -> list[Selection]:
    """The selections with their routes and audits. A solution that a machine has labelled before is a person's."""
    routing = project.policies.routing
    open_to_judges = [one.solution_id for one in selections if one.lane in JUDGED_LANES]
    if not routing.rules or not open_to_judges:
        return list(selections)
    traits = _traits_of(open_to_judges, model)
    judged = set(_judged_before(open_to_judges))
    routed = []
    for one in selections:
        own = traits.get(one.solution_id) if one.solution_id not in judged else None
        number = None if own is None else first_rule(routing.rules, own)
        if own is not None and number is not None and routing.rules[number].route != Route.PERSON:
            rule = routing.rules[number]
            one = replace(one, route=rule.route, rule=number, wanted=rule.judges, predicted_error=own.error)
        routed.append(one)
    judges = [place for place, one in enumerate(routed) if one.route != Route.PERSON]
    audits = draw_audits(len(judges), routing.audit_share, np.random.default_rng([seed, STREAM]))
    for place, audited in zip(judges, audits.tolist(), strict=True):
        probability = routing.audit_share or None
        routed[place] = replace(routed[place], audited=audited, audit_probability=probability)
    return routed


def first_rule(rules: Sequence[RouteRule], own: Traits) -> int | None:
    """The place of the first rule whose conditions a solution meets; None if it meets none."""
    return next((place for place, rule in enumerate(rules) if _meets(own, rule)), None)


def draw_audits(count: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Which of `count` items are audited: `share` of them, rounded at random, so that each has this probability."""
    size = int(count * share + rng.random())
    audited = np.zeros(count, dtype=bool)
    audited[rng.choice(count, size=min(size, count), replace=False)] = True
    return audited


def predict_error(scores: Sequence[float | None]) -> float | None:
    """The probability that any step is bad, from each step's probability to be good given good steps before it.

    None if the model could not score every step.
    """
    known = [score for score in scores if score is not None]
    return 1 - prod(known) if known and len(known) == len(scores) else None


def _meets(own: Traits, rule: RouteRule) -> bool:
    if (rule.domains and own.domain not in rule.domains) or (rule.generators and own.generator not in rule.generators):
        return False
    doubt = None if own.error is None else doubt_of(own.error)
    return (
        _within(own.steps, rule.min_steps, rule.max_steps)
        and _within(own.error, rule.min_error, rule.max_error)
        and _within(doubt, rule.min_doubt, rule.max_doubt)
    )


def _within(value: float | None, low: float | None, high: float | None) -> bool:
    """Whether a value meets both bounds that are set; an unknown value meets none."""
    if value is None:
        return low is None and high is None
    return (low is None or value >= low) and (high is None or value <= high)


def _traits_of(solutions: Sequence[int], model: ModelVersion | None) -> dict[int, Traits]:
    scores = PoolScore.objects.filter(model_version=model, solution__in=solutions).values_list("solution", "mean")
    errors = {pk: predict_error(mean) for pk, mean in scores} if model else {}
    rows = (
        Solution.objects.filter(pk__in=solutions)
        .annotate(size=Count("steps__position", distinct=True))
        .values_list("pk", "problem__domain", "generator", "size")
    )
    return {pk: Traits(domain, generator, size, errors.get(pk)) for pk, domain, generator, size in rows}


def _judged_before(solutions: Sequence[int]) -> list[int]:
    machines = Membership.Kind.MACHINE
    return list(
        Annotation.objects.filter(solution__in=solutions, annotator__kind=machines).values_list("solution", flat=True)
    )
