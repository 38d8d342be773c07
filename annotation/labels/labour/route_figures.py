"""What each route labels, how often it is right, and what that costs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Annotated, Any

from django.db.models import Count, F, FloatField, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Cast, Coalesce

from annotation.core.bounds import about
from annotation.labels.annotators.batches import in_use, is_set_aside
from annotation.labels.labour.audit_estimates import LEAST, Audit, AuditedAccuracy, accuracy_from, mix
from annotation.models import (
    HIDDEN_LANES,
    Annotation,
    GoldAnswer,
    HandOver,
    JudgeCall,
    Membership,
    Project,
    QueueItem,
    Route,
)
from annotation.work.gold.gold_accuracy import is_right, share_of
from annotation.work.gold.gold_answers import answers_to, read_answers
from prm.vocabulary import FINISHED

HOUR = 3_600_000  # milliseconds
LABELLED = Q(state=QueueItem.State.DONE) | Q(handed_over=HandOver.AUDIT)  # or only its audit is left
JUDGED_ALONE = Q(handed_over=HandOver.AUDIT) | Q(handed_over="", state=QueueItem.State.DONE)


@dataclass(frozen=True)
class RouteCost:
    """A cost in the project's currency: of a finished solution, and of one that is labelled right with its interval."""

    per_solution: Annotated[float, about("Cost of a finished solution, without audits.")]
    per_right: Annotated[float | None, about("Cost of a solution that is labelled right; null if unknown.")]
    low: Annotated[
        float | None, about("Lower bound of the 95 % interval of the cost per right solution; null if unknown.")
    ]
    high: Annotated[
        float | None, about("Upper bound of the 95 % interval of the cost per right solution; null if unknown.")
    ]


@dataclass(frozen=True, kw_only=True)
class RouteFigures:
    """The figures of a route. They are None where too little is known."""

    route: Annotated[Route, about("Who labels these solutions.")]
    domain: Annotated[str | None, about("The domain; null for all domains together.")]
    items: Annotated[int, about("Number of queued solutions.")]
    done: Annotated[int, about("Number of solutions with all their labels.")]
    judged_alone: Annotated[int, about("Number of solutions that judges decided alone, audits aside.")]
    judge_labels: Annotated[int, about("Number of judges' labels.")]
    people_labels: Annotated[int, about("Number of people's labels, without audits.")]
    audits: Annotated[int, about("Number of audits of solutions that judges decided alone.")]
    judge_accuracy: Annotated[
        AuditedAccuracy | None, about("Accuracy of judges alone, from audits; null if there are too few.")
    ]
    people_accuracy: Annotated[
        AuditedAccuracy | None, about("Accuracy of people on hidden gold; null if there are too few answers.")
    ]
    accuracy: Annotated[AuditedAccuracy | None, about("Accuracy of the route's results; null if too little is known.")]
    cost: Annotated[RouteCost | None, about("Costs in the project's currency; null if unknown.")]
    audit_cost: Annotated[float | None, about("Cost of all audits in the project's currency; null if unknown.")]
    other: Annotated[Route, about("The route of `other_cost`.")]
    other_cost: Annotated[
        float | None, about("What the same solutions would cost on the other route; null if unknown.")
    ]


@dataclass
class _Sums:
    """The sums behind the figures of a route and a domain, and how to add them."""

    items: int = 0
    done: int = 0
    judged_alone: int = 0
    judge_labels: int = 0
    priced: int = 0
    judge_cost: float = 0.0
    people_labels: int = 0
    people_ms: int = 0
    timed: int = 0
    audit_labels: int = 0
    audits: list[Audit] = field(default_factory=list)

    def __add__(self, other: "_Sums") -> "_Sums":
        return _Sums(**{name: value + getattr(other, name) for name, value in vars(self).items()})


Sums = dict[tuple[str, str], _Sums]  # by route and domain


def figures_by_route(project: Project) -> list[RouteFigures]:
    """The figures of each route with items."""
    sums, gold = _read(project), _people_on_gold(project)
    total = reduce(add, sums.values(), _Sums())
    people = _accuracy(Counter(reduce(add, gold.values(), Counter())))
    return [
        _figures(project, route, None, reduce(add, own, _Sums()), people, total)
        for route in Route
        if (own := [part for (name, _), part in sums.items() if name == route])
    ]


def figures_by_domain(project: Project) -> list[RouteFigures]:
    """The figures of each route in each domain with items, sorted by domain."""
    sums, gold = _read(project), _people_on_gold(project)
    totals = {
        domain: reduce(add, (part for (_, name), part in sums.items() if name == domain), _Sums())
        for domain in {domain for _, domain in sums}
    }
    return [
        _figures(project, Route(route), domain, part, _accuracy(gold[domain]), totals[domain])
        for (route, domain), part in sorted(sums.items(), key=lambda entry: (entry[0][1], entry[0][0]))
    ]


def _figures(
    project: Project, route: Route, domain: str | None, own: _Sums, people: AuditedAccuracy | None, total: _Sums
) -> RouteFigures:
    """`total` has the sums of all routes, for what people and judges cost."""
    hour = project.policies.costs.hour
    person_cost = None if hour is None or not total.timed else total.people_ms / total.timed / HOUR * hour
    judge_cost = total.judge_cost / total.priced if total.priced else None
    judges = accuracy_from(own.audits)
    alone = own.judged_alone / own.done if own.done else 0.0
    accuracy = mix([(alone, judges), (1 - alone, people)]) if own.done else None
    other = Route.JUDGE if route == Route.PERSON else Route.PERSON
    of_other = judge_cost if other == Route.JUDGE else person_cost
    return RouteFigures(
        route=route,
        domain=domain,
        items=own.items,
        done=own.done,
        judged_alone=own.judged_alone,
        judge_labels=own.judge_labels,
        people_labels=own.people_labels,
        audits=own.audit_labels,
        judge_accuracy=judges,
        people_accuracy=people,
        accuracy=accuracy,
        cost=_cost(own, accuracy, person_cost, judge_cost),
        audit_cost=None if person_cost is None else own.audit_labels * person_cost,
        other=other,
        other_cost=None if of_other is None else own.done * of_other,
    )


def _cost(own: _Sums, accuracy: AuditedAccuracy | None, person: float | None, judge: float | None) -> RouteCost | None:
    """What a solution of the route costs, from the mean cost of a label by a person and by a judge."""
    unknown = (own.people_labels and person is None) or (own.judge_labels and judge is None)
    if not own.done or unknown:
        return None
    total = own.people_labels * (person or 0) + own.judge_labels * (judge or 0)
    each = total / own.done
    if accuracy is None or not accuracy.low:
        return RouteCost(each, None, None, None)
    return RouteCost(each, each / accuracy.value, each / accuracy.high, each / accuracy.low)


def _read(project: Project) -> Sums:
    sums: Sums = defaultdict(_Sums)
    items = QueueItem.objects.filter(project=project).exclude(lane__in=HIDDEN_LANES)
    judged = ~Q(route=Route.PERSON)
    for row in (
        items.values("route", domain=F("solution__problem__domain"))
        .annotate(items=Count("pk"), done=Count("pk", filter=LABELLED), alone=Count("pk", filter=judged & JUDGED_ALONE))
        .order_by()
    ):
        own = sums[row["route"], row["domain"]]
        own.items, own.done, own.judged_alone = row["items"], row["done"], row["alone"]
    for labels in _labels(project, items):
        _add_labels(sums[labels["route"], labels["domain"]], labels)
    for route, domain, audit in _audits(project):
        sums[route, domain].audits.append(audit)
    return sums


def _labels(project: Project, items: QuerySet[QueueItem]) -> Iterable[Any]:
    """The labels that fill places of finished items, and of those that only wait for their audit.

    A machine's label costs what its calls cost, or the machine's cost per label if it has none in this currency.
    """
    spent = (
        JudgeCall.objects.filter(
            judged__annotation=OuterRef("pk"), judged__run__currency=project.policies.costs.currency
        )
        .order_by()
        .values("judged__annotation")
        .annotate(total=Sum("cost"))
        .values("total")
    )
    price = Coalesce(Cast(Subquery(spent), FloatField()), F("annotator__machine__cost_per_label"))
    return (
        Annotation.objects.filter(project=project, counted=True, item__in=items.filter(LABELLED))
        .annotate(price=price)
        .values(
            route=F("item__route"),
            domain=F("item__solution__problem__domain"),
            machine=Q(annotator__kind=Membership.Kind.MACHINE),
            audit=Q(item__handed_over=HandOver.AUDIT),
        )
        .annotate(
            n=Count("pk"),
            ms=Sum("total_ms", default=0),
            timed=Count("total_ms"),
            cost=Sum("price", default=0.0),
            priced=Count("price"),
        )
        .order_by()
    )


def _add_labels(own: _Sums, row: Mapping[str, Any]) -> None:
    if row["machine"]:
        own.judge_labels += row["n"]
        own.priced += row["priced"]
        own.judge_cost += row["cost"]
        return
    own.people_ms += row["ms"]
    own.timed += row["timed"]
    if row["audit"]:
        own.audit_labels += row["n"]
    else:
        own.people_labels += row["n"]


def _audits(project: Project) -> Iterable[tuple[str, str, Audit]]:
    """The route and the domain of each audited result of judges alone, and whether it is right.

    The truth is the latest adjudication, else gold, else the person's label of the audit, unless it is set aside.
    """
    audited = QueueItem.objects.filter(
        project=project, audited=True, handed_over=HandOver.AUDIT, state=QueueItem.State.DONE
    )
    items = list(audited.values_list("pk", "solution", "route", "solution__problem__domain", "audit_probability"))
    by_judges = Q(annotator__kind=Membership.Kind.MACHINE)
    labels = Annotation.objects.filter(by_judges | ~is_set_aside(), item__in=audited, counted=True).order_by("pk")
    judges: dict[int | None, list[int | None]] = defaultdict(list)
    truths: dict[int, tuple[int | None, frozenset[int]]] = {}
    for pk, solution, first_error, reason, kind in labels.values_list(
        "item", "solution", "first_error", "finish_reason", "annotator__kind"
    ):
        found = first_error if reason in FINISHED else None
        if kind == Membership.Kind.MACHINE:
            judges[pk].append(found)
        else:
            truths[solution] = (found, frozenset())
    truths |= _known_truths({solution for _, solution, *_ in items})
    tolerance = project.policies.gold.tolerance
    for pk, solution, route, domain, probability in items:
        truth, accepted = truths.get(solution, (None, frozenset()))
        if truth is not None and probability:
            found = Counter(judges[pk]).most_common(1)[0][0] if judges[pk] else None
            right = is_right(found, truth, accepted, tolerance=tolerance)
            yield route, domain, Audit(right, probability)


def _known_truths(solutions: Iterable[int]) -> dict[int, tuple[int | None, frozenset[int]]]:
    """The first error of each solution with active gold or an adjudication, which goes first, and those accepted."""
    gold = GoldAnswer.objects.filter(solution__in=solutions, active=True)
    known = {
        one.solution_id: (one.annotation.first_error, frozenset(one.accepted))
        for one in gold.select_related("annotation")
    }
    decisions = Annotation.objects.filter(solution__in=solutions, adjudicates=True).order_by("pk")
    return known | {one.solution_id: (one.first_error, frozenset()) for one in decisions}


def _people_on_gold(project: Project) -> dict[str, Counter[bool]]:
    """How many of people's answers to hidden gold that are in use are right (True) and wrong, by domain."""
    tolerance, counts = project.policies.gold.tolerance, defaultdict[str, Counter[bool]](Counter)
    answers = in_use(answers_to(project, source__kind="human"))
    domains = dict(answers.values_list("solution", "solution__problem__domain"))
    for answer in read_answers(answers):
        counts[domains[answer.solution]][answer.is_right(tolerance=tolerance)] += 1
    return counts


def _accuracy(counts: Counter[bool]) -> AuditedAccuracy | None:
    """The share of right answers, if there are enough."""
    share = share_of(counts[True], counts.total())
    if share.value is None or share.low is None or share.high is None or share.of < LEAST:
        return None
    return AuditedAccuracy(share.value, share.low, share.high, share.of)
