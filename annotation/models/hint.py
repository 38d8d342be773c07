from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.model_version import ModelVersion
from annotation.models.queue import Lease


class Hint(models.Model):
    """How the draw fell whether a person sees the model's scores of a solution: made once, when it is given to them.

    `shown` is false in the blind arm. Both arms have a row, and only where scores could have been shown. `scores` are
    the champion's of that moment, one a step, null where it was beyond the context; `verdict` is the first step that
    it takes for an error, -1 for none, null where it could not read all. `share` and `reveal` are the policy's of that
    moment. `seen` lists the steps whose score stood before the person by their first submission, as
    `[position, rating]` in the order in which they were seen, with the person's own rating at that moment, null for
    none.
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
