from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models import choices
from annotation.models.annotation import Annotation
from annotation.models.project import Membership, Project
from annotation.models.solution import Solution


class GoldAnswer(models.Model):
    """A solution with a known first error, hidden in the queue to measure annotators, or for practice.

    `annotation` is the reference: a person's label or a consensus of people, never a machine's label. `accepted` are
    other first errors (positions, -1 for none) that count as right. While `active`, the solution is not used to train
    or evaluate models. Gold for `practice` is open to every member, with its answer and the `explanation`. Once
    somebody has practised on it, it can never be hidden gold or ordinary work again.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="gold_answers")
    solution = models.OneToOneField(Solution, on_delete=models.CASCADE, related_name="gold_answer")
    annotation = models.ForeignKey(Annotation, on_delete=models.PROTECT, related_name="+")
    accepted = ArrayField(models.IntegerField(), default=list, blank=True)
    active = models.BooleanField(default=True)
    practice = models.BooleanField(default=False)
    explanation = models.TextField(blank=True, help_text="Why the first error is where it is; shown in practice.")
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["project", "solution"], condition=Q(active=True), name="gold_answer_active")]

    def __str__(self) -> str:
        return f"gold answer of solution {self.solution_id}"


class ScreeningDecision(models.Model):
    """Whether a person may label; the latest row applies. Rows never change. `by` is null if the policy decided.

    `passed` allows labelling, `failed` and `paused` stop it until a manager decides again, `again` requires another
    screening. `right` of `given` gold answers led to the decision; null if a manager decided.
    """

    class Outcome(models.TextChoices):
        PASSED = "passed", _("Passed")
        FAILED = "failed", _("Failed")
        AGAIN = "again", _("Again")
        PAUSED = "paused", _("Paused")

    membership = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="screening_decisions")
    outcome = models.CharField(max_length=8, choices=Outcome)
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField(blank=True)
    right = models.PositiveIntegerField(null=True, blank=True)
    given = models.PositiveIntegerField(null=True, blank=True)
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome__in=["passed", "failed", "again", "paused"]), name="screening_outcome_known"
            )
        ]
        indexes = [models.Index(fields=["membership", "-id"], name="screening_latest")]

    def __str__(self) -> str:
        return f"{self.membership_id} {self.outcome}"


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
