"""Imports of files: the upload, the progress of each, and the rejected lines."""

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.api.downloads import download
from annotation.core.errors import DomainError, Missing
from annotation.core.lifecycle import progress_of
from annotation.core.wording import in_words
from annotation.files.import_jobs import (
    Manner,
    cancel_group,
    import_files,
    import_from_root,
    import_uploads,
    summary_of,
)
from annotation.files.rejections import original_lines
from annotation.files.uploads import unfinished_uploads
from annotation.files.warnings import warnings_in_words
from annotation.models import ImportGroup, ImportJob, Membership, Project
from labelling_ui.pages.access import MANAGER, attempt, project_action, project_page, signed_in, without_slug
from labelling_ui.pages.columns import Column, Number, State, When
from labelling_ui.pages.import_forms import FilesForm, ImportForm, TextForm, options_of
from labelling_ui.pages.listing import Filters, Listing, respond
from labelling_ui.templatetags.figures import code


def start_import(*, by: User, project: Project, form: FilesForm, posted: QueryDict) -> list[ImportJob]:
    """Start the import that the form describes. Raises DomainError."""
    data = form.cleaned_data
    manner = Manner(data["format"], data["decomposition"], options_of(posted))
    try:
        if data["uploads"]:
            return import_uploads(by=by, project=project, uploads=data["uploads"], manner=manner)
        if data.get("root"):
            return import_from_root(by=by, project=project, root=data["root"], path=data["path"], manner=manner)
        files = [(file.name, file.chunks()) for file in [*data["file"], *data["folder"]]]
        return import_files(by=by, project=project, files=files, manner=manner)
    except Missing as error:
        raise DomainError(error.message, error.extra, code=error.code) from error


class ImportFilters(Filters):
    rejected = forms.BooleanField(label=_("with rejected lines"))
    group = forms.IntegerField(widget=forms.HiddenInput)

    lookups = {"rejected": lambda rows, _wanted: rows.filter(rejected__gt=0)}
    field_order = ("state",)


COLUMNS = [
    Column("file", _("File"), "filename", sort=True, heading=True),
    State("state", _("State"), sort=True, choices=ImportJob.State.choices, filtered=True),
    When("started", _("Started"), "created_at", sort=True),
    Number("accepted", _("Accepted"), sort=True),
    Number("duplicates", _("Duplicates"), sort=True),
    Number("rejected", _("Rejected"), sort=True),
]
REJECTION_COLUMNS = [
    Number("line", _("Line"), sort=True, heading=True),
    Column("field", _("Field"), sort=True, write=code),
    Column("reason", _("Reason"), sort=True, write=in_words),
    Column("excerpt", _("Content"), write=code),
]


@project_page(MANAGER)
def imports(request: HttpRequest, member: Membership) -> HttpResponseBase:
    form = ImportForm(request.POST if request.method == "POST" else None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        jobs = attempt(request, "", start_import, project=member.project, form=form, posted=request.POST)
        if jobs and jobs[0].group_id:
            return redirect(f"{request.path}?group={jobs[0].group_id}")
        if jobs:
            return redirect("import-job", jobs[0].pk)
    filters = ImportFilters(request.GET, COLUMNS)
    group = member.project.import_groups.filter(pk=filters.chosen().get("group", 0)).first()
    summary = summary_of(group) if group else None
    live = f"?group={group.pk}" if group and summary and summary["live"] else ""
    rows = member.project.import_jobs.all()
    listing = Listing(request, rows, COLUMNS, sort="-started", filters=filters, live=live)
    context = {
        "form": form,
        "text_form": TextForm(auto_id="try_%s"),
        "uploads": unfinished_uploads(by=signed_in(request), project=member.project),
        "group": group,
        "summary": summary,
    }
    return respond(request, "labelling_ui/import.html", listing, "imports", context)


@without_slug(ImportJob)
@project_page(MANAGER)
def import_job(request: HttpRequest, member: Membership, job_id: int) -> HttpResponseBase:
    job = get_object_or_404(ImportJob, pk=job_id, project=member.project)
    context = {
        "job": job,
        "progress": progress_of(job),
        "nothing_new": _why_nothing_is_new(job),
        "may_open": member.pk is not None and not member.project.generations.exists(),
        "warnings": warnings_in_words(job.warnings),
    }
    listing = Listing(request, job.rejections.all(), REJECTION_COLUMNS, sort="line")
    return respond(request, "labelling_ui/import_job.html", listing, f"import-{job.pk}-rejected", context)


@project_action(MANAGER)
def cancel_files(request: HttpRequest, member: Membership, group_id: int) -> HttpResponseBase:
    group = get_object_or_404(ImportGroup, pk=group_id, project=member.project)
    attempt(
        request,
        gettext("The imports stop within seconds. Records that were already imported stay."),
        cancel_group,
        group=group,
    )
    return redirect(f"{reverse('import', args=[member.project.slug])}?group={group.pk}")


@without_slug(ImportJob)
@project_page(MANAGER)
def originals(request: HttpRequest, member: Membership, job_id: int) -> HttpResponseBase:
    """Download the rejected lines as they were in the file."""
    job = get_object_or_404(ImportJob, pk=job_id, project=member.project)
    return download(original_lines(job), name=f"import-{job.pk}-rejected.jsonl", content_type="application/x-ndjson")


def _why_nothing_is_new(job: ImportJob) -> str:
    """Why a finished import added nothing; empty if it added something."""
    if job.state != ImportJob.State.DONE or job.accepted:
        return ""
    if job.rejected and job.duplicates:
        return gettext("Nothing was imported: every new record was rejected. The reasons are below.")
    if job.rejected:
        return gettext("Nothing was imported: every record was rejected. The reasons are below.")
    return gettext("Every record in this file was already in the project.") if job.duplicates else ""
