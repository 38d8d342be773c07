"""The solutions that a generation may choose from, as columns, because a pool may have a million solutions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

import msgspec
import numpy as np
from django.db.models import Count, Exists, IntegerField, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from numpy.typing import NDArray

from annotation.labels.annotators.batches import in_use
from annotation.models import HIDDEN_LANES, Annotation, Lease, Project, QueueItem, Route, Solution, Step
from annotation.work.annotations import is_adjudicated
from annotation.work.gold.designation import is_gold, is_practised
from prm.vocabulary import SPLITS

Numbers = NDArray[np.int64]
CHUNK = 5000


@dataclass(frozen=True)
class Candidates:
    """Solutions that a generation may choose from.

    `problem` is a key, `split` an index into SPLITS, `domain` a code. `labels` counts the annotations from sources that
    train.
    """

    ids: Numbers
    split: Numbers
    problem: Numbers
    domain: Numbers
    labels: Numbers

    def __len__(self) -> int:
        return len(self.ids)

    def where(self, chosen: NDArray[np.bool_] | Numbers) -> "Candidates":
        """The candidates of a mask [n], or at these indices."""
        return Candidates(*(getattr(self, column.name)[chosen] for column in fields(self)))

    def of_split(self, split: str) -> "Candidates":
        return self.where(self.split == SPLITS.index(split))

    def lacking(self, wanted: int) -> "Candidates":
        """The candidates with fewer than `wanted` annotations."""
        return self.where(self.labels < wanted)

    def without(self, ids: Iterable[int]) -> "Candidates":
        return self.where(~np.isin(self.ids, np.fromiter(ids, dtype=np.int64)))


def candidates_of(project: Project) -> Candidates:
    """Every solution that lacks labels, is not leased or adjudicated, and is neither gold nor used in practice.

    A solution whose judges are done lacks none.
    """
    policy = project.policies
    active = Lease.objects.filter(solution=OuterRef("pk"), state=Lease.State.ACTIVE)
    judged = Annotation.objects.filter(
        solution=OuterRef("pk"), project=project, counted=True, item__state=QueueItem.State.DONE
    ).exclude(item__route=Route.PERSON)
    most = max(msgspec.structs.astuple(policy.queue.wanted))
    rows = (
        Solution.objects.filter(project=project)
        .filter(~Exists(active), ~Exists(in_use(judged)), ~is_gold(), ~is_practised(), ~is_adjudicated())
        .annotate(
            labels=Count(
                "annotations",
                # Each annotation has exactly one first revision. One that is set aside does not count, and is replaced.
                filter=Q(annotations__revision=1, annotations__source__kind__in=policy.training_sources)
                & ~Q(annotations__lane__in=HIDDEN_LANES)
                & Q(annotations__in=in_use(Annotation.objects.filter(project=project))),
            )
        )
        .filter(labels__lt=most)
        .order_by("pk")
        .values_list("pk", "split", "problem", "problem__domain", "labels")
    )
    domains = Codes()
    read = (
        (pk, SPLITS.index(split), problem, domains[domain], count)
        for pk, split, problem, domain, count in rows.iterator(chunk_size=CHUNK)
    )
    return Candidates(*_columns(read, width=5))


def lengths_and_generators(project: Project, ids: Numbers) -> tuple[Numbers, Numbers]:
    """The bin of the number of steps (1, 2 to 3, 4 to 7, ...) and the code of the generator, for each of `ids`."""
    last = Step.objects.filter(solution=OuterRef("pk")).order_by("-position").values("position")[:1]
    rows = (
        Solution.objects.filter(project=project)
        .annotate(size=Coalesce(Subquery(last, output_field=IntegerField()), -1) + 1)
        .order_by("pk")
        .values_list("pk", "size", "generator")
    )
    generators = Codes()
    read = ((pk, size.bit_length(), generators[name]) for pk, size, name in rows.iterator(chunk_size=CHUNK))
    pk, bins, codes = _columns(read, width=3)
    at = np.searchsorted(pk, ids)
    return bins[at], codes[at]


class Codes(dict[str, int]):
    """Whole numbers for names, from 0 in the order of their first use."""

    def __missing__(self, name: str) -> int:
        return self.setdefault(name, len(self))


def _columns(rows: Iterator[tuple[int, ...]], *, width: int) -> list[Numbers]:
    return list(np.fromiter(rows, dtype=(np.int64, width)).T)
