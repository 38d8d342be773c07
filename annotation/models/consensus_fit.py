import msgspec
from django.db import models

from annotation.models.job import Job, one_live
from annotation.models.project import Project
from annotation.models.struct_field import StructField
from prm.consensus import CONSENSUS, Fit, Measured, Reliability


class LabelsSeen(msgspec.Struct, frozen=True):
    """The state of a project's labels: their number, the latest one, and a hash of what decides which of them count.

    The hash covers the batches that are set aside and the references of hidden gold.
    """

    labels: int = 0
    latest: int = 0
    decisions: str = ""


class AnnotatorFigures(msgspec.Struct, frozen=True):
    """An annotator in a fit, by the name that records have: a pseudonym, or a source's kind and name.

    `group` names the family of sources whose errors may be copies of each other's, "" for none.
    """

    name: str
    reliability: Reliability
    group: str = ""


class GoldFigures(msgspec.Struct, frozen=True):
    """How well fits that did not know them infer the ratings of gold; without gold, of adjudicated steps.

    `accuracy` is the share of `steps` whose most probable rating is the known one, with an interval by solution.
    `majority` is that of vote shares. `nll` is the mean negative log-probability of the known rating in nats.
    """

    steps: int
    solutions: int
    accuracy: Measured
    majority: Measured
    nll: float


class StepChange(msgspec.Struct, frozen=True):
    """The probability of bad of a step under the previous fit and this one, by the id of its solution.

    It is `flipped` if its likeliest rating changed.
    """

    solution: int
    position: int
    alternative: int
    before: float
    after: float
    flipped: bool


class FitReport(msgspec.Struct, frozen=True):
    """What a fit read and found. `shares` are those of good, neutral and bad steps by domain, "" for all domains.

    `changed` counts the steps rated by several people whose likeliest rating differs from the previous fit's, and
    `changes` are the largest ones.
    """

    labels: int
    solutions: int
    steps: int
    annotators: list[AnnotatorFigures]
    shares: dict[str, tuple[float, float, float]]
    temperature: float
    gold: GoldFigures | None = None
    groups: list[list[str]] = []
    changed: int = 0
    changes: list[StepChange] = []


class ConsensusFit(Job):
    """One fit of a consensus model to the labels of a project, and the job that makes it.

    Fits of one `method` and the same `source_kinds` (sorted; empty for all) follow each other: each starts from the
    parameters of the `previous` one. `parameters` are the model's own, null for equal weights. `sha256` is their hash,
    which names the fit in records. A fit that is done never changes.
    """

    KIND = "fit"
    TASK = "quality.fit_consensus"
    COUNTS = ("number", "done")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="consensus_fits")
    number = models.PositiveIntegerField()
    method = models.CharField(max_length=100)
    source_kinds = models.JSONField(default=list, blank=True)
    previous = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    seen: "StructField[LabelsSeen]" = StructField(LabelsSeen, default=LabelsSeen)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    parameters = models.JSONField(null=True)
    sha256 = models.CharField(max_length=64, blank=True)
    report: "StructField[FitReport | None]" = StructField(FitReport, null=True)

    class Meta(Job.Meta):
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="consensus_fit_number_once"),
            one_live("project", name="consensus_fit_one_live_per_project"),
        ]

    @property
    def share(self) -> float | None:
        return min(self.done / self.total, 1.0) if self.total else None

    @property
    def handled(self) -> int:
        return self.done

    def __str__(self) -> str:
        return f"consensus fit {self.number} of {self.project} ({self.state})"

    @property
    def learned(self) -> Fit | None:
        """What the model learned; None if every rating has the same weight."""
        restore = CONSENSUS.get(self.method).restore
        return restore(self.parameters) if restore and self.parameters is not None else None

    @property
    def scope(self) -> tuple[str, list[str]]:
        """The method and the source kinds, which the fits that follow each other share."""
        return self.method, self.source_kinds
