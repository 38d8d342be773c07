"""What an accepted label of each member costs."""

from dataclasses import dataclass
from typing import Annotated

from django.db.models import Count, Exists, OuterRef, Q, Sum

from annotation.core.bounds import about
from annotation.labels.annotators.batches import is_set_aside
from annotation.models import Annotation, MachineAnnotator, Membership, Project
from annotation.work.annotations import current_annotations


@dataclass(frozen=True)
class LabelCost:
    """What labels cost, from the time of all of them and the policy's `costs.hour`, or a machine's cost per label."""

    labels: Annotated[int, about("Labels without adjudications.")]
    accepted: Annotated[int, about("Labels that are neither set aside nor overruled by an adjudication.")]
    seconds: Annotated[float, about("Active time of all labels.")]
    each: Annotated[float | None, about("What an accepted label costs, in the project's currency; null if unknown.")]


def costs_by_member(project: Project) -> dict[int, LabelCost]:
    """The cost of each member's labels, by membership id. Adjudications are left out."""
    overruling = Annotation.objects.filter(solution=OuterRef("solution"), adjudicates=True).exclude(
        first_error=OuterRef("first_error")
    )
    labels = current_annotations(project).filter(annotator__isnull=False, adjudicates=False)
    rows = (
        labels.annotate(lost=is_set_aside() | Q(Exists(overruling)))
        .order_by()
        .values_list("annotator", "annotator__kind")
        .annotate(n=Count("pk"), accepted=Count("pk", filter=Q(lost=False)), ms=Sum("total_ms"))
    )
    machines = MachineAnnotator.objects.filter(membership__project=project)
    per_label = dict(machines.values_list("membership", "cost_per_label"))
    costs, hour = {}, project.policies.costs.hour
    for member, kind, n, accepted, ms in rows:
        seconds = (ms or 0) / 1000
        if kind == Membership.Kind.MACHINE:
            price = per_label.get(member)
            spent = None if price is None else price * n
        else:
            spent = None if hour is None or not seconds else hour * seconds / 3600
        costs[member] = LabelCost(n, accepted, seconds, spent / accepted if spent is not None and accepted else None)
    return costs
