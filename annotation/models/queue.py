from django.db import models
from django.db.models import BigIntegerField, Case, F, Q, When
from django.utils.translation import gettext_lazy as _

from annotation.models import choices
from annotation.models.choices import HIDDEN_LANES, JUDGED_LANES, HandOver, Lane, Route, Taker
from annotation.models.generation import Generation
from annotation.models.project import Membership, Project
from annotation.models.solution import Solution

OPEN_TO_ALL = Q(state="ready", paused=False, assigned_to__isnull=True)
OPEN_STATES = ["ready", "full"]
OPEN = Q(state__in=OPEN_STATES)
# Pinned items are served first, whatever their rank.
TURN = Case(When(pinned=True, then=F("rank") - 2**32), default=F("rank"), output_field=BigIntegerField())


class QueueItem(models.Model):
    """A solution waiting for `wanted` annotations.

    A database constraint holds `leased + done <= wanted`: the queue never gets more annotations of an item than wanted.
    State: ready (a place is free), full (all places are leased or done), done, retired (its generation was replaced).

    A `paused` item is not leased. An item with `assigned_to` is leased to that person only, before all others. A
    `pinned` item is served before unpinned ones. `reopened` marks an item that somebody's frontier may have passed
    while it was not available: the database sets it when a place is freed, a pause or an assignment ends, or the item
    moves ahead.

    `route` and the `rule` that chose it (its place in the generation's recipe) are drawn with the generation. `taker`
    may lease the item now. `wanted` of an item on a judge's route counts judges until it is handed over to people, for
    the reason `handed_over`. `predicted_error` is the champion's probability of an error when the route was chosen. An
    item is `audited` if a person labels it whatever the judges say, drawn with `audit_probability`.
    """

    class State(models.TextChoices):
        READY = "ready", _("Ready")
        FULL = "full", _("Full")
        DONE = "done", _("Done")
        RETIRED = "retired", _("Retired")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="queue_items")
    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="items")
    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="queue_items")
    split = models.CharField(max_length=12, choices=choices.SPLITS)
    lane = models.CharField(max_length=12, choices=Lane)
    rank = models.PositiveIntegerField(help_text="Served in ascending order.")
    wanted = models.PositiveSmallIntegerField(default=1)
    leased = models.PositiveSmallIntegerField(default=0)
    done = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=8, choices=State, default=State.READY)
    inclusion_probability = models.FloatField(null=True, blank=True)
    gain = models.FloatField(null=True, blank=True, help_text="Expected information, nats.")
    expected_seconds = models.FloatField(null=True, blank=True)
    route = models.CharField(max_length=17, choices=Route, default=Route.PERSON)
    taker = models.CharField(max_length=7, choices=Taker, default=Taker.PERSON)
    rule = models.PositiveSmallIntegerField(null=True, blank=True)
    predicted_error = models.FloatField(null=True, blank=True)
    audit_probability = models.FloatField(null=True, blank=True)
    audited = models.BooleanField(default=False)
    handed_over = models.CharField(max_length=13, choices=HandOver, blank=True)
    assigned_to = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.SET_NULL, related_name="assigned_items"
    )
    paused = models.BooleanField(default=False)
    pinned = models.BooleanField(default=False)
    reopened = models.BooleanField(default=False, db_default=False, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            # A gold solution has a separate item for each person who gets it.
            models.UniqueConstraint(
                fields=["generation", "solution"],
                condition=~Q(lane__in=HIDDEN_LANES),
                name="queue_item_once_per_generation",
            ),
            models.CheckConstraint(
                condition=Q(wanted__gte=F("leased") + F("done")), name="queue_item_never_over_wanted"
            ),
            models.CheckConstraint(
                condition=~Q(state="ready") | Q(wanted__gt=F("leased") + F("done")),
                name="queue_item_ready_has_place",
            ),
            models.CheckConstraint(
                condition=~Q(lane__in=[Lane.ACQUISITION, Lane.CONTROL]) | Q(split="pool"),
                name="queue_item_acquires_pool_only",
            ),
            models.CheckConstraint(
                condition=~Q(lane="holdout") | Q(split="holdout"), name="queue_item_holdout_lane_is_holdout"
            ),
            models.CheckConstraint(
                condition=~Q(lane="calibration") | Q(split="calibration"),
                name="queue_item_calibration_lane_is_calibration",
            ),
            models.CheckConstraint(
                condition=Q(inclusion_probability__isnull=True)
                | Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="queue_item_inclusion_is_probability",
            ),
            models.CheckConstraint(
                condition=Q(route="person", taker="person", rule__isnull=True) | Q(lane__in=[*JUDGED_LANES]),
                name="queue_item_judged_lanes",
            ),
            models.CheckConstraint(
                condition=Q(taker="person") | ~Q(route="person") & Q(handed_over=""), name="queue_item_taker_by_route"
            ),
        ]
        indexes = [
            models.Index(
                fields=["generation", "lane", "taker", "rank", "id"], condition=OPEN_TO_ALL, name="queue_item_in_lane"
            ),
            models.Index(
                fields=["generation", "lane", "taker", "rank", "id"],
                condition=OPEN_TO_ALL & Q(reopened=True),
                name="queue_item_reopened",
            ),
            models.Index(
                fields=["project", "rank", "id"], condition=OPEN_TO_ALL & Q(pinned=True), name="queue_item_pinned"
            ),
            models.Index(
                fields=["assigned_to", "rank", "id"],
                condition=Q(state="ready", paused=False, assigned_to__isnull=False),
                name="queue_item_assigned",
            ),
            # The next two are for the manager's list of the queue.
            models.Index(F("project"), TURN, F("id").desc(), condition=OPEN, name="queue_item_turn"),
            models.Index(fields=["project"], condition=OPEN & Q(taker="machine"), name="queue_item_for_machine"),
        ]

    def __str__(self) -> str:
        return f"{self.lane} item {self.pk}"


class Lease(models.Model):
    """A time-limited claim of one queue item by one annotator.

    The database allows one row per annotator and solution, so an annotator never gets a solution twice. An expired
    lease can be renewed; a released (skipped) or submitted one cannot.
    """

    class State(models.TextChoices):
        ACTIVE = "active", _("Active")
        SUBMITTED = "submitted", _("Submitted")
        EXPIRED = "expired", _("Expired")
        RELEASED = "released", _("Released")

    item = models.ForeignKey(QueueItem, on_delete=models.CASCADE, related_name="leases")
    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="leases")
    annotator = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="leases")
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    reason = models.TextField(blank=True, help_text="Why it was released.")
    claimed_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["annotator", "solution"], name="lease_solution_once_per_annotator")
        ]
        indexes = [
            models.Index(fields=["expires_at"], condition=Q(state="active"), name="lease_expiry"),
            models.Index(fields=["annotator", "claimed_at"], condition=Q(state="active"), name="lease_in_hand"),
            models.Index(fields=["annotator"], condition=Q(state="expired"), name="lease_run_out"),
        ]

    def __str__(self) -> str:
        return f"lease {self.pk} ({self.state})"


class LaneTally(models.Model):
    """The places of a lane in a generation for one kind of taker: `wanted`, and `taken` (leased or done).

    Triggers on queue items update it, whatever changes an item. Items in the lanes screening and gold are not counted.
    """

    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="tallies")
    lane = models.CharField(max_length=12, choices=Lane)
    taker = models.CharField(max_length=7, choices=Taker)
    wanted = models.IntegerField()
    taken = models.IntegerField()

    class Meta:
        verbose_name_plural = "lane tallies"
        constraints = [models.UniqueConstraint(fields=["generation", "lane", "taker"], name="lane_tally_once")]

    def __str__(self) -> str:
        return f"{self.taken} of {self.wanted} places of {self.lane}"


class Frontier(models.Model):
    """How far an annotator has come in a lane: below `rank`, they have had every item or can never get it.

    Items that are `reopened` are the exception. The frontier only spares a claim the search of a long history: before
    a claim reports that nothing is left, it searches the whole queue.
    """

    annotator = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="frontiers")
    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="frontiers")
    lane = models.CharField(max_length=12, choices=Lane)
    rank = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["annotator", "generation", "lane"], name="frontier_once")]

    def __str__(self) -> str:
        return f"frontier {self.rank} of {self.annotator_id} in {self.lane}"


class Draft(models.Model):
    """Unsubmitted work on a lease, as the workbench last saved it; `version` only grows."""

    lease = models.OneToOneField(Lease, on_delete=models.CASCADE, related_name="draft")
    version = models.PositiveIntegerField()
    body = models.JSONField()
    saved_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"draft {self.version} of lease {self.lease_id}"
