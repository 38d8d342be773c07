from typing import Any

import msgspec
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.core.server_paths import without_folders
from annotation.models.measurement import Measurement
from annotation.models.project import Project


class ModelVersion(models.Model):
    """Trained PRM weights with a manifest; the champion is the one being served.

    `path` is relative to the folder of models. `snapshot` is what it learned from, or what an imported one was
    measured on. `gate` is the verdict: gain, interval, tolerance,
    the counts behind them, and the sentence that explains it. `audits` is the last audit report. A pinned
    champion is not replaced by the gate, and a pinned version never loses its weights to the retention policy.
    `confirmed_at` is when a manager let a version answer programs that the gate could not measure.
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
    metrics = models.JSONField(default=dict)
    gate = models.JSONField(default=dict)
    audits = models.JSONField(default=dict)
    origin = models.CharField(max_length=8, choices=Origin, default=Origin.TRAINED)
    imported_from = models.CharField(max_length=300, blank=True)
    pinned = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    promoted_at = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    weights_deleted_at = models.DateTimeField(null=True, blank=True)

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
    def measurement(self) -> Measurement:
        """`metrics` as what they are."""
        return msgspec.convert(self.metrics, Measurement)

    @property
    def measured(self) -> bool:
        """Whether the gate compared it with something on the project's holdout."""
        return self.gate.get("gain") is not None

    @property
    def answers_programs(self) -> bool:
        """Whether `/score`, sessions and `/pooling` may answer with it."""
        return self.measured or self.confirmed_at is not None

    @property
    def overruled(self) -> bool:
        """Whether the gate kept it back, and a manager let it serve all the same."""
        return self.promoted_at is not None and self.gate.get("promote") is False


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
