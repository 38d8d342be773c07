"""Everything in the Django admin, to look at: what was handed in, what is running, who did what.

Nothing but an API token can be changed or deleted here. Services keep the rules, the sums and the audit rows
of all the rest, and a superuser reaches them on the pages of every project.
"""

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from annotation import models


class ReadOnlyAdmin(admin.ModelAdmin):
    """Rows to look at: nothing is added, changed or deleted."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyInline(admin.TabularInline):
    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class MembershipInline(ReadOnlyInline):
    model = models.Membership
    fields = ("user", "role", "active", "simulated", "joined_at")
    readonly_fields = fields


@admin.register(models.Project)
class ProjectAdmin(ReadOnlyAdmin):
    list_display = ("name", "slug", "state", "created_at")
    list_filter = ("state",)
    search_fields = ("name", "slug")
    inlines = (MembershipInline,)


@admin.register(models.Membership)
class MembershipAdmin(ReadOnlyAdmin):
    list_display = ("user", "project", "role", "active", "simulated", "joined_at")
    list_filter = ("role", "active", "simulated", "project")
    search_fields = ("user__username", "user__email", "pseudonym")
    list_select_related = ("user", "project")


@admin.register(models.Preference)
class PreferenceAdmin(ReadOnlyAdmin):
    list_display = ("user", "language")
    list_filter = ("language",)
    search_fields = ("user__username",)
    list_select_related = ("user",)


@admin.register(models.ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ("name", "user", "created_at", "last_used_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter),)
    search_fields = ("name", "user__username")
    exclude = ("digest",)
    list_select_related = ("user",)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super(ReadOnlyAdmin, self).has_delete_permission(request, obj)


@admin.register(models.Problem)
class ProblemAdmin(ReadOnlyAdmin):
    list_display = ("id", "__str__", "project", "domain", "split", "source_group")
    list_filter = ("split", "domain", "project")
    search_fields = ("text", "source_group")
    list_select_related = ("project",)


class StepInline(ReadOnlyInline):
    model = models.Step
    fields = ("position", "alternative", "kind", "text")
    readonly_fields = fields


@admin.register(models.Solution)
class SolutionAdmin(ReadOnlyAdmin):
    list_display = ("id", "problem", "project", "split", "generator", "final_answer_correct", "external_id")
    list_filter = ("split", "final_answer_correct", "project")
    search_fields = ("external_id", "generator", "problem__text")
    list_select_related = ("problem", "project")
    inlines = (StepInline,)


@admin.register(models.Step)
class StepAdmin(ReadOnlyAdmin):
    list_display = ("id", "solution", "position", "alternative", "kind")
    list_filter = ("kind",)
    search_fields = ("=solution__id",)
    list_select_related = ("solution",)


@admin.register(models.Critique)
class CritiqueAdmin(ReadOnlyAdmin):
    list_display = ("step", "ordinal", "text")
    search_fields = ("text",)
    raw_id_fields = ("step",)


@admin.register(models.AnswerCheck)
class AnswerCheckAdmin(ReadOnlyAdmin):
    list_display = ("id", "project", "state", "total", "correct", "wrong", "unknown", "changed", "created_at")
    list_filter = ("state", "project")
    list_select_related = ("project",)


@admin.register(models.OutcomeDisagreement)
class OutcomeDisagreementAdmin(ReadOnlyAdmin):
    list_display = ("id", "check_run", "solution", "was", "was_source", "graded", "answer")
    list_filter = ("check_run__project",)
    list_select_related = ("check_run", "solution")


@admin.register(models.LabelSource)
class LabelSourceAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "name", "project")
    list_filter = ("kind", "project")
    search_fields = ("name",)
    list_select_related = ("project",)


@admin.register(models.Generation)
class GenerationAdmin(ReadOnlyAdmin):
    list_display = ("project", "number", "state", "acquisition", "model_version", "budget", "pool_size", "created_at")
    list_filter = ("state", "acquisition", "project")
    search_fields = ("project__slug",)
    list_select_related = ("project", "model_version__project")


@admin.register(models.QueueItem)
class QueueItemAdmin(ReadOnlyAdmin):
    list_display = ("id", "generation", "lane", "rank", "state", "wanted", "leased", "done", "gain")
    list_filter = ("state", "lane", "project")
    search_fields = ("=solution__id",)
    list_select_related = ("generation__project",)


@admin.register(models.Lease)
class LeaseAdmin(ReadOnlyAdmin):
    list_display = ("id", "annotator", "solution", "state", "claimed_at", "expires_at", "ended_at")
    list_filter = ("state", "annotator__project")
    search_fields = ("annotator__user__username", "=solution__id")
    list_select_related = ("annotator__user", "annotator__project", "solution")


@admin.register(models.Hint)
class HintAdmin(ReadOnlyAdmin):
    list_display = ("lease", "shown", "reveal", "share", "model_version", "drawn_at")
    list_filter = ("shown", "reveal", "lease__annotator__project")
    search_fields = ("=lease__id", "=lease__solution__id")
    list_select_related = ("lease", "model_version__project")


@admin.register(models.Draft)
class DraftAdmin(ReadOnlyAdmin):
    list_display = ("lease", "version", "saved_at")
    search_fields = ("=lease__id",)
    list_select_related = ("lease",)


class PathStepInline(ReadOnlyInline):
    model = models.PathStep
    fields = ("position", "chosen", "own_text", "dwell_ms")
    readonly_fields = fields


class StepRatingInline(ReadOnlyInline):
    model = models.StepRating
    fields = ("step", "state", "rating", "flagged", "error_type", "comment", "spans")
    readonly_fields = fields


@admin.register(models.Annotation)
class AnnotationAdmin(ReadOnlyAdmin):
    list_display = (
        "id", "solution", "annotator", "source", "lane", "revision", "counted", "finish_reason", "first_error",
        "submitted_at",
    )  # fmt: skip
    list_filter = ("finish_reason", "lane", "counted", "source__kind", "project")
    search_fields = ("=solution__id", "annotator__user__username", "submission_id", "comment")
    date_hierarchy = "submitted_at"
    list_select_related = ("solution", "annotator__user", "annotator__project", "source")
    inlines = (PathStepInline, StepRatingInline)


@admin.register(models.PathStep)
class PathStepAdmin(ReadOnlyAdmin):
    list_display = ("id", "annotation", "position", "chosen", "dwell_ms")
    search_fields = ("=annotation__id",)
    list_select_related = ("annotation", "chosen")


@admin.register(models.StepRating)
class StepRatingAdmin(ReadOnlyAdmin):
    list_display = ("id", "annotation", "step", "state", "rating", "flagged", "error_type")
    list_filter = ("state", "rating", "flagged")
    search_fields = ("=annotation__id", "comment")
    list_select_related = ("annotation", "step")


@admin.register(models.Dispute)
class DisputeAdmin(ReadOnlyAdmin):
    list_display = ("id", "project", "annotation", "state", "resolved_by", "created_at", "resolved_at")
    list_filter = ("state", "project")
    search_fields = ("resolution",)
    list_select_related = ("project", "annotation", "resolved_by__user", "resolved_by__project")


@admin.register(models.SentBack)
class SentBackAdmin(ReadOnlyAdmin):
    list_display = ("id", "project", "annotation", "state", "by", "created_at", "ended_at")
    list_filter = ("state", "project")
    search_fields = ("reason",)
    list_select_related = ("project", "annotation", "by")


@admin.register(models.ImportJob)
class ImportJobAdmin(ReadOnlyAdmin):
    list_display = ("id", "filename", "project", "state", "accepted", "duplicates", "rejected", "created_at")
    list_filter = ("state", "format", "project")
    search_fields = ("filename", "error")
    list_select_related = ("project",)


@admin.register(models.SamplingRun)
class SamplingRunAdmin(ReadOnlyAdmin):
    list_display = ("id", "project", "endpoint", "model", "state", "problems", "sampled", "accepted", "created_at")
    list_filter = ("state", "endpoint", "project")
    search_fields = ("model", "error")
    list_select_related = ("project",)


@admin.register(models.SampledProblem)
class SampledProblemAdmin(ReadOnlyAdmin):
    list_display = ("id", "run", "problem", "position", "state", "accepted", "error")
    list_filter = ("state",)
    search_fields = ("=run__id", "error")
    list_select_related = ("run__project", "problem")


@admin.register(models.ImportGroup)
class ImportGroupAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "project", "requested_by", "created_at")
    list_filter = ("project",)
    list_select_related = ("project", "requested_by")


@admin.register(models.Upload)
class UploadAdmin(ReadOnlyAdmin):
    list_display = ("id", "filename", "project", "by", "offset", "size", "touched_at")
    list_filter = ("project",)
    list_select_related = ("project", "by")


@admin.register(models.ImportRejection)
class ImportRejectionAdmin(ReadOnlyAdmin):
    list_display = ("job", "line", "field", "reason")
    search_fields = ("=job__id", "reason", "field")
    list_select_related = ("job",)


@admin.register(models.Snapshot)
class SnapshotAdmin(ReadOnlyAdmin):
    list_display = ("id", "project", "sha256", "created_by", "created_at")
    list_filter = ("project",)
    search_fields = ("sha256",)
    list_select_related = ("project", "created_by")


@admin.register(models.ModelVersion)
class ModelVersionAdmin(ReadOnlyAdmin):
    list_display = ("project", "number", "state", "sha256", "created_at", "promoted_at")
    list_filter = ("state", "project")
    search_fields = ("sha256", "project__slug")
    list_select_related = ("project",)


@admin.register(models.DomainChampion)
class DomainChampionAdmin(ReadOnlyAdmin):
    list_display = ("project", "domain", "model_version", "chosen_at")
    list_filter = ("project",)
    search_fields = ("domain", "project__slug")
    list_select_related = ("project", "model_version__project")


@admin.register(models.ModelJob)
class ModelJobAdmin(ReadOnlyAdmin):
    list_display = ("id", "project", "kind", "model_version", "state", "created_at", "finished_at")
    list_filter = ("kind", "state", "project")
    search_fields = ("project__slug", "error")
    list_select_related = ("project", "model_version__project")


@admin.register(models.PoolScoring)
class PoolScoringAdmin(ReadOnlyAdmin):
    list_display = ("model_version", "wanted", "cut_at", "beaten_at", "finished_at", "checked_at", "error")
    search_fields = ("=model_version__id", "error")
    list_select_related = ("model_version__project",)


@admin.register(models.LaneTally)
class LaneTallyAdmin(ReadOnlyAdmin):
    list_display = ("generation", "lane", "wanted", "taken")
    list_filter = ("lane", "generation__project")
    search_fields = ("generation__project__slug",)
    list_select_related = ("generation__project",)


@admin.register(models.Frontier)
class FrontierAdmin(ReadOnlyAdmin):
    list_display = ("annotator", "generation", "lane")
    list_filter = ("lane", "generation__project")
    search_fields = ("annotator__user__username",)
    list_select_related = ("annotator__user", "annotator__project", "generation__project")


@admin.register(models.PoolShard)
class PoolShardAdmin(ReadOnlyAdmin):
    list_display = ("id", "model_version")
    search_fields = ("=model_version__id",)
    list_select_related = ("model_version__project",)


class RunStageInline(ReadOnlyInline):
    model = models.RunStage
    fields = ("name", "state", "attempts", "progress", "figure", "started_at", "finished_at")
    readonly_fields = fields


@admin.register(models.TrainingRun)
class TrainingRunAdmin(ReadOnlyAdmin):
    list_display = ("project", "number", "state", "trigger", "requested_by", "heartbeat_at", "created_at")
    list_filter = ("state", "trigger", "project")
    search_fields = ("project__slug", "error")
    list_select_related = ("project", "requested_by")
    inlines = (RunStageInline,)


@admin.register(models.RunStage)
class RunStageAdmin(ReadOnlyAdmin):
    list_display = ("run", "name", "state", "attempts", "progress", "figure")
    list_filter = ("name", "state")
    search_fields = ("=run__id",)
    list_select_related = ("run__project",)


@admin.register(models.RunPoint)
class RunPointAdmin(ReadOnlyAdmin):
    list_display = ("run", "stage", "step", "of", "loss", "message", "at")
    list_filter = ("stage",)
    search_fields = ("=run__id", "message")
    list_select_related = ("run__project",)


@admin.register(models.RoundClock)
class RoundClockAdmin(ReadOnlyAdmin):
    list_display = ("project", "looked_at", "drift", "drift_of", "drift_n", "measured_at")
    search_fields = ("project__slug",)
    list_select_related = ("project",)


@admin.register(models.ShadowComparison)
class ShadowComparisonAdmin(ReadOnlyAdmin):
    list_display = ("project", "generation", "gain", "low", "high", "holdout_solutions", "created_at")
    list_filter = ("project",)
    search_fields = ("project__slug",)
    list_select_related = ("project", "run__project", "snapshot__project")


@admin.register(models.SimulationRun)
class SimulationRunAdmin(ReadOnlyAdmin):
    list_display = ("id", "project", "state", "seeds", "budget", "progress", "created_at", "finished_at")
    list_filter = ("state", "project")
    search_fields = ("project__slug", "error")
    list_select_related = ("project", "snapshot__project")


@admin.register(models.ServedScore)
class ServedScoreAdmin(ReadOnlyAdmin):
    list_display = ("request", "index", "project", "model_number", "score", "first_suspicious", "failure", "asked_at")
    list_filter = ("route", "failure", "project")
    search_fields = ("=request", "=text_hash")
    list_select_related = ("project",)


@admin.register(models.LabelBatch)
class LabelBatchAdmin(ReadOnlyAdmin):
    list_display = ("id", "project", "annotator", "source", "judge", "state", "found_at", "decided_at")
    list_filter = ("state", "judge", "project")
    search_fields = ("project__slug", "reason")
    list_select_related = ("project", "annotator__user", "annotator__project", "source")


@admin.register(models.GoldAnswer)
class GoldAnswerAdmin(ReadOnlyAdmin):
    list_display = ("id", "project", "solution", "annotation", "accepted", "active", "practice", "by", "created_at")
    list_filter = ("active", "practice", "project")
    search_fields = ("=solution__id", "project__slug")
    list_select_related = ("project", "solution", "annotation", "by")


@admin.register(models.PracticeAnswer)
class PracticeAnswerAdmin(ReadOnlyAdmin):
    list_display = ("id", "membership", "gold", "outcome", "first_error", "answered_at")
    list_filter = ("outcome", "gold__project")
    search_fields = ("membership__user__username", "=gold__solution__id")
    list_select_related = ("membership__user", "membership__project", "gold")


@admin.register(models.ScreeningDecision)
class ScreeningDecisionAdmin(ReadOnlyAdmin):
    list_display = ("id", "membership", "outcome", "right", "given", "by", "decided_at")
    list_filter = ("outcome", "membership__project")
    search_fields = ("membership__user__username", "reason")
    list_select_related = ("membership__user", "membership__project", "by")


@admin.register(models.AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "by", "action", "target_type", "target_id", "project")
    list_filter = ("action", "project")
    search_fields = ("target_id", "by__username", "action")
    date_hierarchy = "at"
    list_select_related = ("by", "project")
