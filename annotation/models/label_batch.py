from django.contrib.auth.models import User
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotation.models.label_source import LabelSource
from annotation.models.project import Membership, Project


class LabelBatch(models.Model):
    """The labels of one annotator, or of one imported source, from `since` to `until`.

    A suspected batch waits for a decision and still counts. A batch set aside is left out of consensus, training and
    measuring. A batch in use was reviewed and counts. The labels themselves never change. `evidence` has the numbers of
    labels that were judged, that differed (were unread, equal to another person's, or as their pattern predicts), and
    that usually do. Some checks add figures:

    - `reading`: the median `label_ms` of the labels, and the median `characters` that they rate
    - `copy`: whose labels they equal (`original`), and how many comments are equal (`comments`)
    - `pattern`: the `pattern`: `none`, `same` or `turns`
    - `guessing` and `pace`: milliseconds per step (`step_ms`), and other people's (`usual_ms`). `pace` has the number
      of `labels` instead of the others
    """

    class State(models.TextChoices):
        SUSPECTED = "suspected", _("suspected")
        SET_ASIDE = "set_aside", _("set aside")
        IN_USE = "in_use", _("in use")

    class Judge(models.TextChoices):
        OVERLAP = "overlap", _("other people's labels")
        MODEL = "model", _("the model that serves")
        READING = "reading", _("the time it takes to read")
        COPY = "copy", _("another person’s labels")
        PATTERN = "pattern", _("their own earlier answers")
        GUESSING = "guessing", _("guesses")
        PACE = "pace", _("other people’s time per step")
        PERSON = "person", _("a person")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="label_batches")
    annotator = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="label_batches"
    )
    source = models.ForeignKey(
        LabelSource, null=True, blank=True, on_delete=models.PROTECT, related_name="label_batches"
    )
    since = models.DateTimeField()
    until = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.SUSPECTED)
    judge = models.CharField(max_length=8, choices=Judge)
    evidence = models.JSONField(default=dict, blank=True)
    reason = models.TextField(blank=True)
    found_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "label batches"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(until__gte=F("since")), name="label_batch_ends_after_it_begins"),
            models.CheckConstraint(
                condition=Q(annotator__isnull=False, source__isnull=True)
                | Q(annotator__isnull=True, source__isnull=False),
                name="label_batch_is_of_one",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["suspected", "set_aside", "in_use"]), name="label_batch_state_known"
            ),
        ]
        indexes = [
            models.Index(fields=["project"], condition=~Q(state="in_use"), name="label_batch_in_question"),
        ]

    def __str__(self) -> str:
        return f"batch {self.pk} ({self.state})"
