from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.annotation import Annotation
from annotation.models.project import Project


class SentBack(models.Model):
    """A reviewer's request that an annotator look at their label again, with the reason.

    It is about the revision that the reviewer saw; the annotator's next revision is its `answer`. The annotator sees
    `by` and `reason`.
    """

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        ANSWERED = "answered", _("Answered")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sent_back")
    annotation = models.ForeignKey(Annotation, on_delete=models.PROTECT, related_name="sent_back")
    reason = models.TextField()
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    answer = models.ForeignKey(Annotation, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["annotation"], condition=Q(state="open"), name="sent_back_open_once"),
            models.CheckConstraint(
                condition=Q(state__in=["open", "answered", "withdrawn"]), name="sent_back_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state="answered", answer__isnull=False) | ~Q(state="answered") & Q(answer__isnull=True),
                name="sent_back_answer_where_answered",
            ),
        ]
        indexes = [models.Index(fields=["project"], condition=Q(state="open"), name="sent_back_open")]

    def __str__(self) -> str:
        return f"label {self.annotation_id} sent back ({self.state})"
