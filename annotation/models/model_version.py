from typing import Annotated, Any

import msgspec
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.core.bounds import about
from annotation.core.server_paths import without_folders
from annotation.models.project import Project
from annotation.models.struct_field import StructField
from prm.audits.finding import Verdict as AuditVerdict
from prm.evaluation import Metric, Report
from prm.messages import Message
from prm.threshold import Threshold


class Measurement(msgspec.Struct, kw_only=True):
    """What a round measured on the holdout's solutions with a known first error; None without such solutions."""

    holdout_solutions: int = 0
    champion: Annotated[int | None, about("The number of the champion at that time; null for none.")] = None
    thresholds: Annotated[dict[str, Threshold], about("The threshold of each model.")] = {}
    challenger: Annotated[Report | None, about("The report of the challenger; null without one.")] = None
    baseline: Annotated[Report | None, about("The report of the baseline without labels; null without one.")] = None
    rival: Annotated[Report | None, about("What the challenger was compared with.")] = None
    measured_at: Annotated[str, about("When it was measured.")] = ""

    @property
    def f1(self) -> Metric | None:
        """ProcessBench F1 of the challenger on the holdout; None if it was not measured."""
        return _f1(self.challenger)

    @property
    def baseline_f1(self) -> Metric | None:
        return _f1(self.baseline)


class Verdict(msgspec.Struct, kw_only=True):
    """What the gate decided, and why.

    The bounds of the gain hold over all rounds (`prm.evaluation.sequential`).
    """

    promote: Annotated[bool, about("Whether the challenger is promoted.")]
    sentence: Annotated[Message, about("The result in a sentence.")]
    rival: Annotated[Message, about("What the challenger was compared with.")]
    gain: Annotated[float | None, about("Gain over the rival in ProcessBench F1; null if nothing was measured.")] = None
    error: Annotated[float | None, about("Standard error of the gain; null if nothing was measured.")] = None
    low: Annotated[float | None, about("Lower bound of the gain over all rounds; null if nothing was measured.")] = None
    high: Annotated[float | None, about("Upper bound of the gain over all rounds; null if nothing was measured.")] = (
        None
    )
    detectable: Annotated[
        float | None, about("The gain that so many solutions show in 80 % of the cases; null if nothing was measured.")
    ] = None
    tolerance: Annotated[float, about("The largest loss that the gate accepts.")]
    n: Annotated[int, about("Number of holdout solutions with a known first error.")]
    n_problems: int = 0
    samples: Annotated[list[float], about("Bootstrap samples of the gain.")] = []
    only_new: Annotated[bool, about("Whether only solutions labelled since the champion's promotion counted.")] = False
    holdout_uses: Annotated[int, about("Number of earlier decisions with the same holdout.")]


class AuditFinding(msgspec.Struct):
    """One audit's result in a sentence (`prm.audits`)."""

    title: Annotated[Message, about("The name of the audit.")]
    verdict: Annotated[AuditVerdict, about("The verdict.")]
    sentence: Annotated[Message, about("The result in a sentence.")]


class AuditSummary(msgspec.Struct):
    """The findings of the latest audit, and the holdout that it used."""

    data: Annotated[str, about("The holdout that was used.")]
    n_solutions: int
    n_problems: int
    n_erroneous: int
    n_steps: int
    bootstrap: int
    threshold: Annotated[
        Threshold, about("The threshold on the probability of good, below which a step counts as bad.")
    ]
    findings: Annotated[list[AuditFinding], about("The result of each audit.")]


class ModelVersion(models.Model):
    """Trained PRM weights with a manifest; the champion is the one being served.

    `path` is relative to the folder of models. `snapshot` is the training data, or for an imported model the data that
    it was measured on. `gate` is None before a verdict, `audits` before the first audit. The gate does not replace a
    pinned champion, and the retention policy does not delete the weights of a pinned version. `confirmed_at` is when a
    manager allowed a version that the gate could not measure to answer programs. `weights_deleted_at` is when the
    policy deleted the weights, and `files_deleted` whether their files are gone.
    """

    class State(models.TextChoices):
        CHALLENGER = "challenger", _("Challenger")
        CHAMPION = "champion", _("Champion")
        REJECTED = "rejected", _("Rejected")
        RETIRED = "retired", _("Retired")

    class Origin(models.TextChoices):
        TRAINED = "trained", _("Trained")
        IMPORTED = "imported", _("Imported")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="model_versions")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.CHALLENGER)
    path = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    snapshot = models.ForeignKey(
        "annotation.Snapshot", null=True, on_delete=models.PROTECT, related_name="model_versions"
    )
    manifest = models.JSONField(default=dict)
    metrics: "StructField[Measurement]" = StructField(Measurement, default=Measurement)
    gate: "StructField[Verdict | None]" = StructField(Verdict, null=True)
    audits: "StructField[AuditSummary | None]" = StructField(AuditSummary, null=True)
    origin = models.CharField(max_length=8, choices=Origin, default=Origin.TRAINED)
    imported_from = models.CharField(max_length=300, blank=True)
    pinned = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    promoted_at = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    weights_deleted_at = models.DateTimeField(null=True, blank=True)
    files_deleted = models.BooleanField(default=False)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="model_version_number_once"),
            models.UniqueConstraint(
                fields=["project"], condition=Q(state="champion"), name="model_version_one_champion"
            ),
        ]

    def __str__(self) -> str:
        return f"model {self.number} of {self.project} ({self.state})"

    @property
    def shown_manifest(self) -> dict[str, Any]:
        """The manifest as people and programs see it, without folders of the server."""
        shown: dict[str, Any] = without_folders(self.manifest)
        return shown

    @property
    def threshold(self) -> Threshold | None:
        """The first-error threshold; None without a manifest."""
        stored = self.manifest.get("threshold")
        return None if stored is None else msgspec.convert(stored, Threshold)

    @property
    def measured(self) -> bool:
        """Whether the gate compared it with something on the project's holdout."""
        return self.gate is not None and self.gate.gain is not None

    @property
    def answers_programs(self) -> bool:
        """Whether `/score`, sessions and `/pooling` may answer with it."""
        return self.measured or self.confirmed_at is not None

    @property
    def overruled(self) -> bool:
        """Whether the gate rejected the version and a manager promoted it anyway."""
        return self.promoted_at is not None and self.gate is not None and not self.gate.promote


class DomainChampion(models.Model):
    """A version that a manager chose to serve one domain's problems, in place of the project's champion."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="domain_champions")
    domain = models.CharField(max_length=100)
    model_version = models.ForeignKey(ModelVersion, on_delete=models.PROTECT, related_name="domains")
    chosen_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["domain"]
        constraints = [models.UniqueConstraint(fields=["project", "domain"], name="domain_champion_once")]

    def __str__(self) -> str:
        return f"model {self.model_version.number} for {self.domain} in {self.project}"


def _f1(report: Report | None) -> Metric | None:
    return report.overall.processbench_f1 if report and report.overall.processbench_f1.value is not None else None
