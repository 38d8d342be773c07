from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models import choices
from annotation.models.gold import GoldAnswer
from annotation.models.project import Membership


class PracticeAnswer(models.Model):
    """A person's answer in practice, with the outcome that they saw. Rows never change.

    It is not an annotation: it trains no model and measures nobody. `given` is the submission, `outcome` is right or
    in which way wrong. `first_error` is a position, -1 for none, null if they gave up.
    """

    class Outcome(models.TextChoices):
        RIGHT = "right", _("Right")
        TOO_EARLY = "too_early", _("Too Early")
        TOO_LATE = "too_late", _("Too Late")
        MISSED = "missed", _("Missed")
        INVENTED = "invented", _("Invented")
        GAVE_UP = "gave_up", _("Gave Up")

    gold = models.ForeignKey(GoldAnswer, on_delete=models.PROTECT, related_name="practice_answers", db_index=False)
    membership = models.ForeignKey(
        Membership, on_delete=models.PROTECT, related_name="practice_answers", db_index=False
    )
    submission_id = models.UUIDField(unique=True)
    payload_hash = models.CharField(max_length=64)
    given = models.JSONField()
    finish_reason = models.CharField(max_length=12, choices=choices.FINISH_REASONS)
    first_error = models.IntegerField(null=True, blank=True)
    outcome = models.CharField(max_length=9, choices=Outcome)
    answered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["membership", "gold"], name="practice_by_person"),
            models.Index(fields=["gold"], name="practice_of_gold"),
        ]

    def __str__(self) -> str:
        return f"practice answer of {self.membership_id} on gold {self.gold_id}"
