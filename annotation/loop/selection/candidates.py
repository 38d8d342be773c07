"""The solutions that a generation may choose from, as columns, because a pool may have a million solutions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import msgspec
import numpy as np
from django.db.models import (
    BigIntegerField,
    Case,
    Count,
    Exists,
    Func,
    IntegerField,
    OuterRef,
    Q,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from numpy.typing import NDArray

from annotation.core.packed_columns import read_columns
from annotation.labels.annotators.batches import in_use
from annotation.models import HIDDEN_LANES, Annotation, Lease, Project, QueueItem, Route, Solution, Step
from annotation.work.annotations import is_adjudicated
from annotation.work.gold.designation import is_gold, is_practised
from prm.vocabulary import SPLITS

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Candidates:
    """Solutions that a generation may choose from.

    `ids` ascend. `problem` is a key, `split` an index into SPLITS, `domain` a code. `labels` counts the annotations
    from sources that train.
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

    def labels_of(self, ids: Sequence[int]) -> list[int]:
        """The number of annotations of each of these candidates."""
        counts: list[int] = self.labels[np.searchsorted(self.ids, np.array(ids, dtype=np.int64))].tolist()
        return counts


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
    )
    split = Case(*(When(split=name, then=Value(number)) for number, name in enumerate(SPLITS)))
    pk, splits, problem, domain, labels = read_columns(rows, "pk", split, "problem", _hash("problem__domain"), "labels")
    return Candidates(pk, splits, problem, _codes(domain), labels)


def lengths_and_generators(project: Project, ids: Numbers) -> tuple[Numbers, Numbers]:
    """The bin of the number of steps (1, 2 to 3, 4 to 7, ...) and the code of the generator, for each of `ids`."""
    last = Step.objects.filter(solution=OuterRef("pk")).order_by("-position").values("position")[:1]
    rows = Solution.objects.filter(project=project).order_by("pk")
    pk, size, generator = read_columns(
        rows, "pk", Coalesce(Subquery(last, output_field=IntegerField()), -1) + 1, _hash("generator")
    )
    at = np.searchsorted(pk, ids)
    bins = np.frexp(size)[1]  # of bits
    return bins[at], _codes(generator)[at]


def _hash(text: str) -> Func:
    """A 64-bit hash of a text. Collisions are rare even among billions."""
    return Func(text, Value(0), function="hashtextextended", output_field=BigIntegerField())


def _codes(hashes: Numbers) -> Numbers:
    """The hashes as whole numbers from 0, in the order of their first use."""
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place]
