"""Datasets: snapshots of the labels, previewed, created for a purpose, and downloaded in many formats."""

from typing import Any

from django.contrib import messages
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import quote_etag
from django.utils.translation import gettext_lazy as _

from annotation.api.downloads import download as streamed
from annotation.api.downloads import in_part
from annotation.core.errors import DomainError, Forbidden, Missing
from annotation.core.wording import in_words as in_reader_words
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.export_jobs import request_export
from annotation.labels.datasets.filters import describe_filters as filter_phrases
from annotation.labels.datasets.plans import Plan, plan_export
from annotation.labels.datasets.presets import PRESETS
from annotation.labels.datasets.snapshot_export import content_type, deliver_snapshot, export_name, export_tag
from annotation.labels.datasets.snapshot_preview import preview_snapshot
from annotation.labels.datasets.snapshots import size_of_snapshot
from annotation.models import ExportJob, Membership, Project, Snapshot
from labelling_ui.pages.access import MANAGER, attempt, project_action, project_page, signed_in, whole_number
from labelling_ui.pages.agreement_fields import rule_address
from labelling_ui.pages.columns import Column, Control, Number, When
from labelling_ui.pages.dataset_contents import Contents, grouped_formats, losses, title_of
from labelling_ui.pages.dataset_filters import SnapshotForm, describe_filters
from labelling_ui.pages.listing import Listing, respond
from labelling_ui.templatetags.figures import bytes_of, digest
from prm.exporters import EXPORTERS
from prm.vocabulary import SPLITS

FIRST = next(iter(PRESETS))
COLUMNS = [
    When("made", _("Created"), "created_at", sort=True),
    Column("sha256", _("Content"), write=digest, term="snapshot"),
    Column(
        "asked_for",
        _("Filters"),
        lambda s: "; ".join(filter_phrases(s.filters)) or "everything",
        shown=lambda s: describe_filters(s.filters),
    ),
    Number("solutions", _("Solutions"), "counts__solutions"),
    Number("labels", _("Labels"), "counts__annotations"),
    Number("bytes", _("Size"), size_of_snapshot, write=bytes_of, help=_("The size of the file of records.")),
    Control("download", _("Download")),
]


@project_page(MANAGER)
def datasets(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    preset = PRESETS.get(request.GET.get("preset", ""), PRESETS[FIRST])
    if request.method == "POST":
        form = SnapshotForm(request.POST, project=project)
        if form.is_valid():
            job = attempt(request, "", request_export, project=project, filters=form.filters())
            if job:
                return redirect(f"{reverse('datasets', args=[project.slug])}?job={job.pk}")
    else:
        form = SnapshotForm(project=project, filters=preset.filters_for(project))
    listing = Listing(request, _snapshots(project), COLUMNS, sort="-made")
    shown = whole_number(request.GET.get("job"))
    jobs = list(project.export_jobs.filter(Q(state__in=ExportJob.LIVE) | Q(pk=shown)).select_related("snapshot"))
    context = {
        "form": form,
        "presets": PRESETS.values(),
        "chosen": preset,
        "labels": project.annotations.exists(),
        "jobs": [(job, describe_filters(job.filters)) for job in jobs],
        "live": any(job.live for job in jobs),
        "shown": shown,
    }
    return respond(request, "labelling_ui/datasets.html", listing, "snapshots", context)


@project_action(MANAGER)
def preview(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Show what a snapshot with the form's filters would contain, and the formats of the preset or the others."""
    project = member.project
    preset = PRESETS.get(request.GET.get("preset", ""), PRESETS[FIRST])
    others = "others" in request.GET
    formats = [format for format in EXPORTERS if format not in preset.formats] if others else preset.formats
    form = SnapshotForm(request.POST, project=project)
    context: dict[str, Any] = {"form": form, "chosen": preset, "others": others}
    if form.is_valid():
        neutral = project.policies.neutral
        try:
            context["preview"] = preview_snapshot(project, form.filters(), formats=formats, neutral=neutral)
        except DomainError as error:
            context["error"] = in_reader_words(error.message)
        else:
            context["contents"] = Contents.of_preview(context["preview"])
            context["rule"] = form.agreement() and rule_address(request.POST)
    return render(request, "labelling_ui/dataset_preview.html", context)


@project_page(MANAGER)
def snapshot(request: HttpRequest, member: Membership, snapshot_id: int) -> HttpResponseBase:
    """A snapshot: its contents, and its downloads with what each leaves out."""
    shown = _find(member.project, snapshot_id)
    neutral = member.project.policies.neutral
    plans = {format: plan_export(shown, format, neutral=neutral) for format in EXPORTERS}
    context = {
        "snapshot": shown,
        "filters": describe_filters(shown.filters),
        "size": size_of_snapshot(shown),
        "contents": Contents(shown.counts),
        "groups": [
            (title, [_file(shown, plans[name], neutral) for name in names]) for title, names in grouped_formats()
        ],
    }
    return render(request, "labelling_ui/snapshot.html", context)


@project_page(MANAGER)
def export_job(request: HttpRequest, member: Membership, job_id: int) -> HttpResponse:
    """One export that a worker makes: its progress, its snapshot and its files."""
    job = get_object_or_404(member.project.export_jobs.select_related("snapshot", "schedule"), pk=job_id)
    return render(request, "labelling_ui/export_job.html", {"job": job})


def _file(snapshot: Snapshot, plan: Plan, neutral: str) -> dict[str, Any]:
    """A download with what it leaves out; also the file with every split, if it has others."""
    every = plan_export(snapshot, plan.format, neutral=neutral, splits=SPLITS)
    return {
        "format": plan.format,
        "label": title_of(plan.format),
        "plan": plan,
        "lost": list(losses(plan)),
        "every": every if every.splits != plan.splits and not every.refusal else None,
    }


@project_page(MANAGER, only_reads=False)
def download(request: HttpRequest, member: Membership, snapshot_id: int, format: str) -> HttpResponseBase:
    """Stream the snapshot in a format, or show on its page why it cannot be written."""
    snapshot = _find(member.project, snapshot_id)
    if format not in EXPORTERS:
        raise Http404("There is no such format.")
    splits = [split for split in request.GET.getlist("splits") if split in SPLITS]
    mixed_kinds = request.GET.get("mixed_kinds", "refuse")
    options: dict[str, Any] = {"neutral": member.project.policies.neutral, "splits": splits, "mixed_kinds": mixed_kinds}
    try:
        content = deliver_snapshot(by=signed_in(request), snapshot=snapshot, format=format, via="page", **options)
    except (Forbidden, Missing):
        raise
    except DomainError as error:
        messages.error(request, in_reader_words(error.message))
        return redirect("snapshot", member.project.slug, snapshot.pk)
    file = streamed(content, name=export_name(snapshot, format), content_type=content_type(format))
    file["ETag"] = quote_etag(export_tag(snapshot, format, options))
    return in_part(request, file)


@project_page(MANAGER)
def card(request: HttpRequest, member: Membership, snapshot_id: int) -> HttpResponseBase:
    snapshot = _find(member.project, snapshot_id)
    text = dataset_card(snapshot, neutral=member.project.policies.neutral)
    response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = f'inline; filename="{snapshot.sha256[:12]}-README.md"'
    return response


def _find(project: Project, snapshot_id: int) -> Snapshot:
    return get_object_or_404(_snapshots(project), pk=snapshot_id)


def _snapshots(project: Project) -> QuerySet[Snapshot]:
    """The snapshots, each with its `previous`: the last one before it with the same filters, or with any."""
    before = Snapshot.objects.filter(project=OuterRef("project"), pk__lt=OuterRef("pk")).order_by("-pk").values("pk")
    alike = before.filter(filters=OuterRef("filters"))
    previous = Coalesce(Subquery(alike[:1]), Subquery(before[:1]))
    return project.snapshots.select_related("created_by").annotate(previous=previous)
