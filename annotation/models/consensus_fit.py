from typing import Annotated

import msgspec
from django.db import models

from annotation.core.bounds import about
from annotation.models.job import CountedJob, one_live
from annotation.models.project import Project
from annotation.models.struct_field import StructField
from prm.consensus import CONSENSUS, Fit, Measured, Reliability


class LabelsSeen(msgspec.Struct, frozen=True):
    """The state of a project's labels."""

    labels: Annotated[int, about("Number of labels, all revisions included.")] = 0
    latest: Annotated[int, about("The id of the latest label.")] = 0
    decisions: Annotated[str, about("Hash of the batches set aside and the references of hidden gold.")] = ""


class AnnotatorFigures(msgspec.Struct, frozen=True):
    """An annotator in a fit, by the name that records have."""

    name: Annotated[str, about("A pseudonym, or the kind and the name of a source.")]
    reliability: Annotated[Reliability, about("How far the annotator's ratings can be trusted.")]
    group: Annotated[
        str, about("The family of sources whose errors may be copies of each other's; empty for none.")
    ] = ""


class GoldFigures(msgspec.Struct, frozen=True):
    """How well fits that did not know them infer the ratings of gold; without gold, of adjudicated steps."""

    steps: Annotated[int, about("Steps of gold that people rated; without gold, steps that a reviewer decided.")]
    solutions: Annotated[int, about("Solutions with these steps.")]
    accuracy: Annotated[
        Measured, about("Share of the steps whose likeliest rating is the known one, with an interval by solution.")
    ]
    majority: Annotated[Measured, about("The same share for the most frequent rating.")]
    nll: Annotated[float, about("Mean negative log-probability of the known rating, in nats per step.")]
    opinions: Annotated[float, about("Mean number of ratings of such a step.")]


class StepChange(msgspec.Struct, frozen=True):
    """The change of a step from the previous fit to this one."""

    solution: Annotated[int, about("The id of the solution.")]
    position: Annotated[int, about("Place in the solution, from 0.")]
    alternative: int
    before: Annotated[float, about("Probability of bad under the previous fit.")]
    after: Annotated[float, about("Probability of bad under this fit.")]
    flipped: Annotated[bool, about("Whether the likeliest rating changed.")]


class FitReport(msgspec.Struct, frozen=True):
    """What a fit read and found."""

    labels: Annotated[int, about("Labels that the fit read.")]
    solutions: Annotated[int, about("Solutions with these labels.")]
    steps: Annotated[int, about("Rated steps of these solutions.")]
    annotators: Annotated[list[AnnotatorFigures], about("The annotators, by name.")]
    shares: Annotated[
        dict[str, tuple[float, float, float]],
        about("Shares of good, neutral and bad steps by domain; an empty name stands for all domains."),
    ]
    temperature: Annotated[float, about("Logits are divided by it; 1 changes nothing.")]
    gold: Annotated[GoldFigures | None, about("How well known ratings are inferred; null without any.")] = None
    groups: Annotated[
        list[list[str]], about("Groups of annotators who err alike: of one family, or found by the model.")
    ] = []
    changed: Annotated[
        int, about("Steps rated by several people whose likeliest rating differs from the previous fit's.")
    ] = 0
    changes: Annotated[list[StepChange], about("The largest changes since the previous fit.")] = []


class ConsensusFit(CountedJob):
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
    parameters = models.JSONField(null=True)
    sha256 = models.CharField(max_length=64, blank=True)
    report: "StructField[FitReport | None]" = StructField(FitReport, null=True)

    class Meta(CountedJob.Meta):
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="consensus_fit_number_once"),
            one_live("project", name="consensus_fit_one_live_per_project"),
        ]

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
