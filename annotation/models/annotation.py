from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models import choices
from annotation.models.choices import Lane
from annotation.models.guideline_version import GuidelineVersion
from annotation.models.label_source import LabelSource
from annotation.models.project import Membership, Project
from annotation.models.queue import Lease, QueueItem
from annotation.models.solution import Solution, Step
from prm.vocabulary import FINISH_REASONS, FINISHED, RATINGS

FIRST_REVISION = 1


class Annotation(models.Model):
    """One person's submission on one solution. Rows never change: an edit is a new revision.

    `annotator` is null for imported labels by machines and by people without a name; `source` then names them.
    `counted` is true if the annotation itself filled a place of its queue item. It is false for a revision, because the
    first revision filled the place, and for a late submission, which is an extra label; both are used like any other
    label. `guidelines` is the version that the person had on the screen; null if the project had none, and for imported
    labels. `native` holds what only the source format can express, for exports in that format. `stated` holds what the
    file of an imported label states and other tables hold for the platform's own labels. `first_error` is a position,
    -1 for none, null if unknown. `progress` is how far the solution got before its first error, from 0 (nowhere) to 4
    (all but the end), null if the project did not ask.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="annotations", db_index=False)
    solution = models.ForeignKey(Solution, on_delete=models.PROTECT, related_name="annotations", db_index=False)
    source = models.ForeignKey(LabelSource, on_delete=models.PROTECT, related_name="annotations")
    annotator = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="annotations", db_index=False
    )
    item = models.ForeignKey(QueueItem, null=True, blank=True, on_delete=models.PROTECT, related_name="annotations")
    lease = models.ForeignKey(Lease, null=True, blank=True, on_delete=models.PROTECT, related_name="annotations")
    lane = models.CharField(max_length=12, choices=Lane, blank=True)
    guidelines = models.ForeignKey(
        GuidelineVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="annotations", db_index=False
    )
    submission_id = models.UUIDField(unique=True)
    payload_hash = models.CharField(max_length=64)
    revision = models.PositiveIntegerField(default=FIRST_REVISION)
    counted = models.BooleanField(default=False)
    adjudicates = models.BooleanField(default=False, help_text="Overrides the consensus.")
    finish_reason = models.CharField(max_length=12, choices=choices.FINISH_REASONS)
    reason = models.TextField(blank=True)
    first_error = models.IntegerField(null=True, blank=True)
    progress = models.PositiveSmallIntegerField(null=True, blank=True)
    total_ms = models.PositiveBigIntegerField(null=True, blank=True)
    comment = models.TextField(blank=True)
    native = models.JSONField(default=dict, blank=True)
    stated = models.JSONField(default=dict, blank=True)
    submitted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["solution", "source", "annotator", "revision"],
                name="annotation_revision_once",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(finish_reason__in=FINISH_REASONS), name="annotation_finish_reason_known"
            ),
            models.CheckConstraint(
                condition=Q(annotator__isnull=True) | Q(finish_reason__in=FINISHED) | ~Q(reason=""),
                name="annotation_giving_up_has_reason",
            ),
            models.CheckConstraint(
                condition=Q(first_error__isnull=True) | Q(first_error__gte=-1),
                name="annotation_first_error_is_position",
            ),
            models.CheckConstraint(
                condition=Q(progress__isnull=True) | Q(progress__lte=4), name="annotation_progress_of_four"
            ),
        ]
        indexes = [
            models.Index(fields=["project", "submitted_at"], name="annotation_by_day"),
            models.Index(fields=["annotator", "submitted_at"], name="annotation_by_annotator"),
            models.Index(fields=["solution"], condition=Q(adjudicates=True), name="annotation_adjudicates"),
            models.Index(
                fields=["solution", "annotator", "revision"],
                condition=Q(revision__gt=FIRST_REVISION),
                name="annotation_later_revision",
            ),
            # Review compares all labels of a project by this index alone.
            models.Index(
                fields=["project", "solution"],
                include=["first_error"],
                condition=Q(annotator__isnull=False, first_error__isnull=False),
                name="annotation_first_errors",
            ),
        ]

    def __str__(self) -> str:
        return f"annotation {self.pk} of solution {self.solution_id}"


class PathStep(models.Model):
    """The choice of an annotation at one position: a completion, or a step that the annotator wrote.

    `chosen` is null for a step that the annotator wrote, at the first error, and after giving up.
    """

    annotation = models.ForeignKey(
        Annotation, on_delete=models.PROTECT, related_name="path", db_index=False, db_constraint=False
    )
    position = models.PositiveIntegerField()
    chosen = models.ForeignKey(
        Step, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_constraint=False
    )
    own_text = models.TextField(null=True, blank=True)
    dwell_ms = models.PositiveBigIntegerField(null=True, blank=True)
    native = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["annotation", "position"], name="path_position_once"),
            models.CheckConstraint(
                condition=Q(chosen__isnull=True) | Q(own_text__isnull=True), name="path_chosen_or_own"
            ),
        ]

    def __str__(self) -> str:
        return f"position {self.position} of annotation {self.annotation_id}"


IN_DOUBT = Q(flagged=True) | Q(state="unsure")


class StepRating(models.Model):
    """A rating of one completion: rated +1, 0 or -1; unsure; or not reached.

    `ordinal` is the order in which the completions of the position were shown. `flagged` is null if the source format
    has no flags. `accepted` is true if the step was not rated by itself but accepted together with others: those before
    a first error, or all remaining ones. `dimensions` holds the answers besides the rating (see
    annotation.work.labelling.payload.Dimensions), or those of another tool's file. `spans` are the parts of the step's
    text that the person marked, in the order in which they did: `start` and `end` in code points, `error_type` and
    `comment`, "" for none.
    """

    annotation = models.ForeignKey(
        Annotation, on_delete=models.PROTECT, related_name="ratings", db_index=False, db_constraint=False
    )
    step = models.ForeignKey(Step, on_delete=models.PROTECT, related_name="ratings", db_constraint=False)
    ordinal = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=12, choices=choices.RATING_STATES)
    rating = models.SmallIntegerField(null=True, blank=True)
    flagged = models.BooleanField(null=True, blank=True)
    accepted = models.BooleanField(default=False, db_default=False)
    error_type = models.CharField(max_length=100, blank=True)
    comment = models.TextField(blank=True)
    dimensions = models.JSONField(default=dict, blank=True)
    spans = models.JSONField(default=list, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["annotation", "step"], name="rating_step_once"),
            models.CheckConstraint(
                condition=Q(state="rated", rating__in=RATINGS, rating__isnull=False)
                | Q(state__in=["unsure", "not_reached"], rating__isnull=True),
                name="rating_only_where_rated",
            ),
            models.CheckConstraint(
                condition=Q(accepted=False) | Q(rating=1, rating__isnull=False), name="rating_accepted_is_good"
            ),
        ]
        indexes = [models.Index(fields=["annotation"], condition=IN_DOUBT, name="rating_in_doubt")]

    def __str__(self) -> str:
        return f"{self.state} {self.rating if self.rating is not None else ''} on step {self.step_id}"


class Dispute(models.Model):
    """An annotator's claim that the reference of a problem is wrong, for a reviewer to settle.

    It belongs to the annotator's latest revision. A revision without the claim withdraws it.
    """

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        UPHELD = "upheld", _("Upheld")
        DISMISSED = "dismissed", _("Dismissed")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="disputes")
    annotation = models.OneToOneField(Annotation, on_delete=models.PROTECT, related_name="dispute")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    resolution = models.TextField(blank=True)
    resolved_by = models.ForeignKey(Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    resolved_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["project"], condition=Q(state="open"), name="dispute_open")]

    def __str__(self) -> str:
        return f"dispute {self.pk} ({self.state})"


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
