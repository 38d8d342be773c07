"""Imports of files: the upload, the progress of each, and the rejected lines."""

import uuid
from typing import Any, NamedTuple, cast

import msgspec
from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBadRequest, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
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
    read_options,
    summary_of,
)
from annotation.files.import_preview import PREVIEW_BYTES, preview_import
from annotation.files.rejections import original_lines
from annotation.files.split_preview import Division, division_of
from annotation.files.uploads import unfinished_uploads
from annotation.files.warnings import warnings_in_words
from annotation.models import ImportGroup, ImportJob, ImportOptions, Membership, Project
from labelling_ui.numbers import short
from labelling_ui.pages.access import MANAGER, attempt, project_action, project_page, signed_in, slug_of, whole_number
from labelling_ui.pages.columns import Choice, Column, Number, State, When
from labelling_ui.pages.listing import Filters, Listing, Table, respond
from labelling_ui.pages.mapping import for_page, mapping_of
from labelling_ui.templatetags.figures import code
from prm.formats.registry import FORMATS
from prm.splitting import Splitting

RULES = [
    ("automatic", _("automatically, from the text")),
    ("blank_lines", _("at blank lines")),
    ("lines", _("at every line")),
    ("numbered", _("at “Step 1”, “2.” and the like")),
    ("sentences", _("at every sentence")),
    ("turns", _("at the turns of an agent (Thought, Action, <tool_call>)")),
]
OPTIONS = ("annotator", "labelled_by", "empty_steps", "no_solution", "source_groups", "thinking")


class Files(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files."""

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data if isinstance(data, list | tuple) else [data] if data else []
        return [super(FilesField, self).clean(file, initial) for file in files]


class FilesForm(forms.Form):
    """The source of an import, exactly one kind; `uploads` are ids of files that the page uploaded in pieces."""

    file = FilesField(
        label=_("Files"),
        help_text=_(
            "Choose them, or drop them on this page: JSON Lines, CSV, Parquet or plain text (.txt), also gzip or zstd."
        ),
        allow_empty_file=True,
        required=False,
        widget=Files,
    )
    folder = FilesField(
        label=_("Folder"),
        help_text=_("All files in the folder and its subfolders, each with its own report."),
        allow_empty_file=True,
        required=False,
        widget=Files(attrs={"webkitdirectory": True}),
    )
    uploads = forms.CharField(required=False, widget=forms.HiddenInput)
    root = forms.ChoiceField(label=_("Storage"), required=False)
    path = forms.CharField(
        label=_("Path"),
        help_text=_("A file, a folder, or a pattern such as runs/*.jsonl.gz."),
        max_length=1000,
        required=False,
    )

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        if settings.IMPORT_ROOTS:
            root = cast(forms.ChoiceField, self.fields["root"])
            root.choices = [("", gettext("none: upload")), *((name, name) for name in settings.IMPORT_ROOTS)]
        else:
            del self.fields["root"], self.fields["path"]

    def clean_uploads(self) -> list[uuid.UUID]:
        try:
            return [uuid.UUID(upload) for upload in self.cleaned_data["uploads"].split(",") if upload]
        except ValueError:
            unknown = gettext("The server does not know these uploads. Choose the files again.")
            raise forms.ValidationError(unknown) from None

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not any(data.get(source) for source in ("file", "folder", "uploads", "root")) and not self.errors:
            self.add_error("file", gettext("Choose a file."))
        return data


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


def options_of(posted: QueryDict) -> ImportOptions:
    """The import options from the page's fields. Raises DomainError (`invalid_options`)."""
    named = {name: posted[name] for name in OPTIONS if posted.get(name)}
    return msgspec.structs.replace(read_options(named), mapping=mapping_of(posted))


def format_choices() -> list[tuple[str, str]]:
    """The choices of the format field: detection, and every registered format."""
    formats = [(name, in_words(FORMATS.get(name).label)) for name in FORMATS]
    return [("auto", gettext("detect automatically")), *formats]


class ImportForm(FilesForm):
    format = forms.ChoiceField(
        choices=format_choices,
        label=_("Format"),
    )
    decomposition = forms.ChoiceField(
        choices=RULES,
        label=_("Split solutions into steps"),
        help_text=_("Applies only to solutions given as one text. Formulas and code are never split."),
    )

    annotator = forms.CharField(
        label=_("Annotator"),
        help_text=_("The annotator of labels that name none. Exports have a random pseudonym for a person."),
        max_length=200,
        required=False,
    )
    labelled_by = forms.ChoiceField(
        choices=[
            ("file", _("as in the file")),
            ("model_judge", _("a model judge")),
            ("monte_carlo", _("Monte Carlo rollouts")),
            ("heuristic", _("a heuristic")),
            ("simulated", _("simulated annotators")),
        ],
        label=_("Labels come from"),
        initial="file",
        required=False,
    )
    empty_steps = forms.ChoiceField(
        choices=[
            ("keep", _("keep them as empty steps")),
            ("refuse", _("reject the solution")),
        ],
        label=_("Steps without text"),
        initial="keep",
        required=False,
    )
    no_solution = forms.ChoiceField(
        choices=[
            ("refuse", _("reject the record")),
            ("keep", _("import the problem, to be sampled")),
        ],
        label=_("Problems without a solution"),
        initial="refuse",
        required=False,
    )
    source_groups = forms.ChoiceField(
        choices=[
            ("template", _("problems that differ only in numbers")),
            ("text", _("problems with the same text")),
        ],
        label=_("Source groups"),
        help_text=_(
            "A group is in the pool, in calibration or in the holdout as a whole. Only for problems without a "
            "source_group."
        ),
        initial="template",
        required=False,
    )
    thinking = forms.ChoiceField(
        choices=[
            ("separate", _("store it with the solution, unrated")),
            ("drop", _("discard it")),
            ("keep", _("split it into steps as well")),
        ],
        label=_("Hidden reasoning (<think>)"),
        help_text=_("Applies only to solutions given as one text."),
        required=False,
    )


class TextForm(forms.Form):
    """A text to try the splitting rules on."""

    rule = forms.ChoiceField(
        choices=RULES,
        label=_("Split into steps"),
    )
    text = forms.CharField(
        max_length=100_000,
        label=_("A solution"),
        widget=forms.Textarea({"rows": 8, "placeholder": _("Paste a solution of your own.")}),
    )


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


class Sent(NamedTuple):
    """The beginning of a file; of a Parquet file that is not `whole` also its end and its size in bytes."""

    head: bytes
    whole: bool
    filename: str
    tail: bytes = b""
    size: int = 0


def sent_by(request: HttpRequest) -> Sent | None:
    """What a page's script sent of the chosen file; None without its first bytes."""
    head, tail = request.FILES.get("head"), request.FILES.get("tail")
    if head is None:
        return None
    return Sent(
        head.read(PREVIEW_BYTES),
        whole=request.POST.get("whole") == "true",
        filename=request.POST.get("filename", ""),
        tail=tail.read(PREVIEW_BYTES) if tail else b"",
        size=whole_number(request.POST.get("size")) or 0,
    )


def preview_of(sent: Sent, *, format: str, posted: QueryDict, project: Project | None = None) -> dict[str, Any]:
    """The context of `import_preview.html`: what the fields of a page make of the file, or the `error`.

    A file of a `wrong_type` is not text, so that choosing a format would not help.
    """
    rule = posted.get("decomposition") or "automatic"
    try:
        options = options_of(posted)
        preview = preview_import(**sent._asdict(), format=format, decomposition=rule, options=options, project=project)
    except DomainError as error:
        unknown = getattr(error.message, "code", "") == "file_type_unknown"
        return {"error": in_words(error.message), "wrong_type": unknown and b"\0" in sent.head}
    rules = dict(RULES)
    applied = preview.division.applied.items() if preview.division and rule == "automatic" else ()
    names = dict(ImportForm.base_fields["format"].choices)  # type: ignore[attr-defined]
    return {
        "preview": preview,
        "format": names[preview.format],
        "applied": [(rules[name], n) for name, n in applied],
        "tried": _tried(preview.division),
        **for_page(preview),
    }


@project_action(MANAGER)
def preview(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """How the file begins that was chosen on the page, which sends its first bytes."""
    sent = sent_by(request)
    if sent is None:
        return HttpResponseBadRequest("the first bytes of the file are missing")
    context = preview_of(sent, format=request.POST.get("format", "auto"), posted=request.POST, project=member.project)
    return render(request, "labelling_ui/import_preview.html", context)


@project_action(MANAGER)
def try_steps(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """The steps into which a rule splits a pasted text."""
    form = TextForm(request.POST)
    context: dict[str, Any] = {"form": form}
    if form.is_valid():
        text, rule = form.cleaned_data["text"], form.cleaned_data["rule"]
        splitting = Splitting(rule)
        division = division_of([text], splitting)
        context |= {"steps": splitting.split(text).steps, "division": division, "tried": _tried(division)}
    return render(request, "labelling_ui/imports/steps_tried.html", context)


def _tried(division: Division | None) -> Table:
    columns = [
        Choice("rule", gettext("Split"), heading=True, choices=RULES),
        Number("fewest", gettext("Fewest steps")),
        Number("median", gettext("Median"), write=short),
        Number("most", gettext("Most")),
    ]
    return Table(division.tried if division else [], columns)


def import_job(request: HttpRequest, job_id: int) -> HttpResponseBase:
    return _job_page(request, slug=slug_of(request, ImportJob, job_id), job_id=job_id)


def originals(request: HttpRequest, job_id: int) -> HttpResponseBase:
    """Download the rejected lines as they were in the file."""
    return _originals(request, slug=slug_of(request, ImportJob, job_id), job_id=job_id)


@project_page(MANAGER)
def _job_page(request: HttpRequest, member: Membership, job_id: int) -> HttpResponseBase:
    job = get_object_or_404(ImportJob, pk=job_id, project=member.project)
    context = {
        "job": job,
        "live": job.live,
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


@project_page(MANAGER)
def _originals(request: HttpRequest, member: Membership, job_id: int) -> HttpResponseBase:
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
