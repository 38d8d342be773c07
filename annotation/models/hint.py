from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.model_version import ModelVersion
from annotation.models.queue import Lease


class Hint(models.Model):
    """The draw that decides, at a claim, whether a person sees the model's scores of a solution.

    `shown` is false in the blind arm. Both arms have a row, but only if scores could be shown. `scores` are the
    champion's at that time, one per step, null beyond the context. `verdict` is the first step that it considers an
    error, -1 for none, null if it could not read every step. `share` and `reveal` are copied from the policy. `seen`
    lists the steps whose score the person had seen by their first submission, as `[position, rating]` in that order,
    with the person's own rating at that time, null for none.
    """

    class Reveal(models.TextChoices):
        REACHED = "reached", _("Reached")
        RATED = "rated", _("Rated")
        ON_REQUEST = "on_request", _("On Request")

    lease = models.OneToOneField(Lease, on_delete=models.CASCADE, related_name="hint")
    model_version = models.ForeignKey(ModelVersion, on_delete=models.PROTECT, related_name="hints")
    scores = ArrayField(models.FloatField(null=True))
    verdict = models.IntegerField(null=True)
    share = models.FloatField()
    reveal = models.CharField(max_length=10, choices=Reveal)
    shown = models.BooleanField()
    seen = models.JSONField(default=list)
    drawn_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(share__gt=0, share__lte=0.5), name="hint_share_leaves_a_blind_half"),
            models.CheckConstraint(condition=Q(shown=True) | Q(seen=[]), name="hint_seen_only_where_shown"),
        ]

    def __str__(self) -> str:
        return f"{'hint' if self.shown else 'no hint'} on lease {self.lease_id}"

    @property
    def scored_positions(self) -> list[int]:
        return [position for position, score in enumerate(self.scores) if score is not None]
