"""The Django admin: all rows, read-only.

Only API tokens can be deleted here. Every other change goes through services, which keep the rules, the counts and the
audit log; a superuser can use them on the pages of every project.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import BooleanField, ForeignKey, Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from annotation import models

NAMED_BY = ("user", "project")  # relations in the name of a row, which a list of such names must join


@dataclass(frozen=True)
class Shown:
    """The list of a model: its columns, searched fields, and filters in addition to those of `_filters`.

    `pages` are the names of pages of the project that take a row's id; each row links them.
    """

    columns: str = "__str__"
    search: str = ""
    filters: str = ""
    dates: str | None = None
    inlines: tuple[type["ReadOnlyInline"], ...] = ()
    pages: tuple[str, ...] = ()


class ReadOnlyAdmin(admin.ModelAdmin):
    """Read-only rows."""

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
    fields = readonly_fields = ("user", "name_in_file", "role", "active", "kind", "joined_at")


class StepInline(ReadOnlyInline):
    model = models.Step
    fields = readonly_fields = ("position", "alternative", "kind", "text")


class PathStepInline(ReadOnlyInline):
    model = models.PathStep
    fields = readonly_fields = ("position", "chosen", "own_text", "dwell_ms")


class StepRatingInline(ReadOnlyInline):
    model = models.StepRating
    fields = readonly_fields = ("step", "state", "rating", "flagged", "accepted", "error_type", "comment", "spans")


class RunStageInline(ReadOnlyInline):
    model = models.RunStage
    fields = readonly_fields = ("name", "state", "attempts", "progress", "figure", "started_at", "finished_at")


@admin.register(models.ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ("name", "user", "scopes", "created_at", "last_used_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter),)
    search_fields = ("name", "user__username")
    exclude = ("digest",)
    list_select_related = ("user",)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super(ReadOnlyAdmin, self).has_delete_permission(request, obj)


SHOWN: dict[type[Model], Shown] = {
    # People and projects
    models.Project: Shown("name slug state created_at", "name slug", inlines=(MembershipInline,)),
    models.GuidelineVersion: Shown("project number created_by created_at", "text project__slug"),
    models.Membership: Shown(
        "user name_in_file project role active kind joined_at",
        "user__username user__email name_in_file pseudonym",
    ),
    models.MachineAnnotator: Shown(
        "membership model_name prompt_version family cost_per_label source",
        "model_name membership__user__username",
        "family",
    ),
    models.Preference: Shown("user language first_password", "user__username", "language"),
    models.AuditEntry: Shown(
        "at by action target_type target_id project", "target_id by__username action", "action", dates="at"
    ),
    models.Webhook: Shown("id url project state failing_since created_by created_at", "url project__slug"),
    models.WebhookDelivery: Shown(
        "id webhook event state attempts status created_at", "=message_id webhook__url", "webhook__project event"
    ),
    # Problems and solutions
    models.Problem: Shown("id __str__ project domain split source_group", "text source_group", "domain"),
    models.Solution: Shown(
        "id problem project split generator final_answer_correct external_id",
        "external_id generator problem__text",
        inlines=(StepInline,),
    ),
    models.SolutionWords: Shown("solution", "=solution__id"),
    models.Step: Shown("id solution position alternative kind", "=solution__id"),
    models.Critique: Shown("step ordinal text", "text"),
    models.OutcomeDisagreement: Shown(
        "id check_run solution was was_source graded answer", "=solution__id", "check_run__project"
    ),
    # Queue
    models.Generation: Shown(
        "project number state acquisition model_version budget pool_size created_at", "project__slug", "acquisition"
    ),
    models.QueueItem: Shown("id generation lane rank state wanted leased done gain", "=solution__id"),
    models.LaneTally: Shown("generation lane wanted taken", "generation__project__slug", "generation__project"),
    models.Frontier: Shown("annotator generation lane", "annotator__user__username", "generation__project"),
    models.Lease: Shown(
        "id annotator solution state claimed_at expires_at ended_at",
        "annotator__user__username =solution__id",
        "annotator__project",
    ),
    models.Hint: Shown(
        "lease shown reveal share model_version drawn_at",
        "=lease__id =lease__solution__id",
        "lease__annotator__project",
    ),
    models.Draft: Shown("lease version saved_at", "=lease__id"),
    # Labels and their quality
    models.LabelSource: Shown("id kind name project", "name"),
    models.Annotation: Shown(
        "id solution annotator source lane revision counted finish_reason first_error submitted_at",
        "=solution__id annotator__user__username annotator__name_in_file submission_id comment",
        "source__kind",
        dates="submitted_at",
        inlines=(PathStepInline, StepRatingInline),
    ),
    models.PathStep: Shown("id annotation position chosen dwell_ms", "=annotation__id"),
    models.StepRating: Shown(
        "id annotation step state rating flagged accepted error_type", "=annotation__id comment", "rating"
    ),
    models.Dispute: Shown("id project annotation state resolved_by created_at resolved_at", "resolution"),
    models.SentBack: Shown("id project annotation state by created_at ended_at", "reason"),
    models.LabelBatch: Shown(
        "id project annotator source judge state found_at decided_at", "project__slug reason", "judge"
    ),
    models.GoldAnswer: Shown(
        "id project solution annotation accepted active practice by created_at", "=solution__id project__slug"
    ),
    models.PracticeAnswer: Shown(
        "id membership gold outcome first_error answered_at",
        "membership__user__username =gold__solution__id",
        "gold__project",
    ),
    models.ScreeningDecision: Shown(
        "id membership outcome right given by decided_at", "membership__user__username reason", "membership__project"
    ),
    # Files in and out
    models.ImportGroup: Shown("id name project requested_by created_at", "name"),
    models.ImportJob: Shown(
        "id filename project state accepted duplicates rejected created_at", "filename error", "format"
    ),
    models.ImportRejection: Shown("job line field reason", "=job__id reason field"),
    models.Upload: Shown("id filename project by offset size touched_at", "filename"),
    models.AnswerCheck: Shown("id project state total correct wrong unknown changed created_at", "project__slug"),
    models.SamplingRun: Shown(
        "id project endpoint model state problems sampled accepted created_at", "model error", "endpoint"
    ),
    models.SampledProblem: Shown("id run problem position state accepted error", "=run__id error"),
    models.JudgingRun: Shown(
        "id project method endpoint model state solutions labelled tokens cost created_at", "model error", "method"
    ),
    models.JudgedSolution: Shown("id run solution position state annotation error", "=run__id error"),
    models.JudgeCall: Shown(
        "id judged prefix attempt state samples prompt_tokens completion_tokens cost sent_at", "=judged__run__id error"
    ),
    models.Snapshot: Shown(
        "id project sha256 created_by created_at",
        "sha256",
        pages=("snapshot", "snapshot-card", "contamination"),
    ),
    models.ExportSchedule: Shown("id project name root path every_days after_promotion active", "name path"),
    models.ExportJob: Shown(
        "id project schedule snapshot target state done created_at finished_at",
        "target error project__slug",
        pages=("export-job",),
    ),
    models.ConsensusFit: Shown(
        "id project number method sha256 state created_at finished_at",
        "sha256 error project__slug",
    ),
    models.ContaminationCheck: Shown(
        "id project snapshot filename state done created_at finished_at", "filename error project__slug"
    ),
    # Rounds and models
    models.TrainingRun: Shown(
        "project number state trigger requested_by heartbeat_at created_at",
        "project__slug error",
        inlines=(RunStageInline,),
    ),
    models.RunStage: Shown("run name state attempts progress figure", "=run__id"),
    models.RunPoint: Shown("run stage step of loss message at", "=run__id message"),
    models.RoundClock: Shown("project looked_at drift drift_of drift_n measured_at", "project__slug"),
    models.ModelVersion: Shown("project number state sha256 created_at promoted_at", "sha256 project__slug"),
    models.DomainChampion: Shown("project domain model_version chosen_at", "domain project__slug"),
    models.ModelJob: Shown("id project kind model_version state created_at finished_at", "project__slug error"),
    models.SimulationRun: Shown(
        "id project state seeds budget progress created_at finished_at", "project__slug error"
    ),
    models.ShadowComparison: Shown(
        "project generation gain low high holdout_solutions created_at", "project__slug"
    ),
    models.JobEntry: Shown("key project state requested_by created_at started_at finished_at", "key project__slug"),
    models.PoolScoring: Shown(
        "id project model_version state wanted cut_at finished_at checked_at", "=model_version__id error"
    ),
    models.PoolShard: Shown("id model_version", "=model_version__id"),
    models.ServedScore: Shown(
        "request index project model_number score first_suspicious failure asked_at",
        "=request =text_hash",
        "route failure",
    ),
}  # fmt: skip


def _admin_of(model: type[Model], shown: Shown) -> type[ReadOnlyAdmin]:
    columns = shown.columns.split()
    return type(
        f"{model.__name__}Admin",
        (ReadOnlyAdmin,),
        {
            "list_display": [*columns, *([_links(shown.pages)] if shown.pages else ())],
            "search_fields": shown.search.split(),
            "list_filter": list(dict.fromkeys([*_filters(model, columns), *shown.filters.split()])),
            "list_select_related": list(_related(model, columns)),
            "date_hierarchy": shown.dates,
            "inlines": shown.inlines,
        },
    )


def _links(pages: tuple[str, ...]) -> Callable[[Any], SafeString]:
    """A column with links to the pages of a row's project."""

    @admin.display(description="pages")
    def links(row: Any) -> SafeString:
        return format_html_join(
            " · ", '<a href="{}">{}</a>', ((reverse(page, args=[row.project.slug, row.pk]), page) for page in pages)
        )

    return links


def _filters(model: type[Model], columns: list[str]) -> Iterator[str]:
    """The project of a row, if it has one, and the columns with few values."""
    for field in model._meta.fields:
        shown = field.name in columns and (field.choices or isinstance(field, BooleanField))
        if field.name == "project" or shown:
            yield field.name


def _related(model: type[Model], columns: list[str]) -> Iterator[str]:
    """The relations that a list shows, and the relations in the names of their rows."""
    for field in model._meta.fields:
        if isinstance(field, ForeignKey) and field.name in columns:
            yield field.name
            for own in field.related_model._meta.fields:
                if isinstance(own, ForeignKey) and own.name in NAMED_BY:
                    yield f"{field.name}__{own.name}"


admin.site.site_header = admin.site.site_title = "Stepmark"
for _model in apps.get_app_config("annotation").get_models():
    if not (admin.site.is_registered(_model) or _model._meta.is_composite_pk):
        admin.site.register(_model, _admin_of(_model, SHOWN.get(_model, Shown())))
