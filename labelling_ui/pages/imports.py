"""Files on their way in: the upload, the progress of each, and the lines that were not taken."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.api.downloads import download
from annotation.core.errors import DomainError
from annotation.core.lifecycle import progress_of
from annotation.core.wording import in_words
from annotation.files.import_jobs import cancel_group, summary_of
from annotation.files.import_preview import PREVIEW_BYTES, preview_import
from annotation.files.rejections import original_lines
from annotation.files.split_preview import division_of
from annotation.files.uploads import unfinished_uploads
from annotation.files.warnings import warnings_in_words
from annotation.models import ImportGroup, ImportJob, Membership
from labelling_ui.pages import import_files
from labelling_ui.pages.access import MANAGER, attempt, project_page, signed_in, slug_of
from labelling_ui.pages.columns import Column, Number, State, When
from labelling_ui.pages.import_files import FilesForm, options_of
from labelling_ui.pages.listing import Filters, Listing, respond
from labelling_ui.pages.mapping import for_page
from labelling_ui.pages.numbers import whole_number
from labelling_ui.templatetags.figures import code
from prm.formats.registry import FORMATS
from prm.splitting import Splitting


def format_choices() -> list[tuple[str, str]]:
    """Every format that is registered, and detection."""
    formats = [(name, in_words(FORMATS.get(name).label)) for name in FORMATS]
    return [("auto", _("find out from the file")), *formats]


class ImportForm(FilesForm):
    format = forms.ChoiceField(
        choices=format_choices,
        label=gettext_lazy("Format"),
    )
    decomposition = forms.ChoiceField(
        choices=[
            ("automatic", gettext_lazy("by what the text shows")),
            ("blank_lines", gettext_lazy("at blank lines")),
            ("lines", gettext_lazy("at every line")),
            ("numbered", gettext_lazy("at “Step 1”, “2.” and the like")),
            ("sentences", gettext_lazy("at every sentence")),
        ],
        label=gettext_lazy("Split solutions into steps"),
        help_text=gettext_lazy("Only for solutions that come as one text. Formulas and code are never split."),
    )

    annotator = forms.CharField(
        label=gettext_lazy("Annotator"),
        help_text=gettext_lazy("Who gave the labels that name no annotator. Use a pseudonym: exports contain it."),
        max_length=200,
        required=False,
    )
    labelled_by = forms.ChoiceField(
        choices=[
            ("file", gettext_lazy("as the format says")),
            ("model_judge", gettext_lazy("a model judge")),
            ("monte_carlo", gettext_lazy("Monte Carlo rollouts")),
            ("heuristic", gettext_lazy("a heuristic")),
            ("simulated", gettext_lazy("simulated annotators")),
        ],
        label=gettext_lazy("Labels come from"),
        initial="file",
        required=False,
    )
    empty_steps = forms.ChoiceField(
        choices=[
            ("keep", gettext_lazy("keep them as empty steps")),
            ("refuse", gettext_lazy("reject the solution")),
        ],
        label=gettext_lazy("Steps without text"),
        initial="keep",
        required=False,
    )
    source_groups = forms.ChoiceField(
        choices=[
            ("template", gettext_lazy("group problems that differ only in numbers")),
            ("text", gettext_lazy("group problems of the same text")),
        ],
        label=gettext_lazy("Source groups"),
        help_text=gettext_lazy(
            "A group is in the pool, in calibration or in the holdout as a whole. Only for problems without a "
            "source_group."
        ),
        initial="template",
        required=False,
    )
    thinking = forms.ChoiceField(
        choices=[
            ("separate", gettext_lazy("keep it beside the solution, unrated")),
            ("drop", gettext_lazy("discard it")),
            ("keep", gettext_lazy("split it into steps as well")),
        ],
        label=gettext_lazy("Hidden reasoning (<think>)"),
        help_text=gettext_lazy("Only for solutions that come as one text."),
        required=False,
    )


class TextForm(forms.Form):
    """A text to try the rules on."""

    rule = forms.ChoiceField(
        choices=ImportForm.base_fields["decomposition"].choices,  # type: ignore[attr-defined]
        label=gettext_lazy("Split it into steps"),
    )
    text = forms.CharField(
        max_length=100_000,
        label=gettext_lazy("A solution"),
        widget=forms.Textarea({"rows": 8, "placeholder": gettext_lazy("Paste a solution of your own.")}),
    )


class ImportFilters(Filters):
    rejected = forms.BooleanField(required=False, label=gettext_lazy("with rejected lines"))
    group = forms.IntegerField(required=False, widget=forms.HiddenInput)

    lookups = {"rejected": lambda rows, _wanted: rows.filter(rejected__gt=0)}
    field_order = ("state",)


COLUMNS = [
    Column("file", gettext_lazy("File"), "filename", sort=True, heading=True),
    State("state", gettext_lazy("State"), sort=True, choices=ImportJob.State.choices, filtered=True),
    When("started", gettext_lazy("Started"), "created_at", sort=True),
    Number("accepted", gettext_lazy("Accepted"), sort=True),
    Number("duplicates", gettext_lazy("Duplicates"), sort=True),
    Number("rejected", gettext_lazy("Rejected"), sort=True),
]
REJECTION_COLUMNS = [
    Number("line", gettext_lazy("Line"), sort=True, heading=True),
    Column("field", gettext_lazy("Field"), sort=True, write=code),
    Column("reason", gettext_lazy("Why it was not taken"), sort=True, write=in_words),
    Column("excerpt", gettext_lazy("What it says"), write=code),
]


@project_page(MANAGER)
def imports(request: HttpRequest, member: Membership) -> HttpResponseBase:
    form = ImportForm(request.POST if request.method == "POST" else None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        jobs = attempt(request, "", import_files.start, project=member.project, form=form, given=request.POST)
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
        "member": member,
        "form": form,
        "text_form": TextForm(auto_id="try_%s"),
        "uploads": unfinished_uploads(by=signed_in(request), project=member.project),
        "group": group,
        "summary": summary,
    }
    return respond(request, "labelling_ui/import.html", listing, f"{member.project.slug}-imports", context)


@require_POST
@project_page(MANAGER)
def preview(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """How the file begins that was chosen on the page, which sends its first bytes."""
    head = request.FILES.get("head")
    if head is None:
        return HttpResponseBadRequest("the first bytes of the file are missing")
    tail = request.FILES.get("tail")
    context: dict[str, Any] = {}
    try:
        found = preview_import(
            head=head.read(PREVIEW_BYTES),
            tail=tail.read(PREVIEW_BYTES) if tail else b"",
            size=whole_number(request.POST.get("size")) or 0,
            whole=request.POST.get("whole") == "true",
            filename=request.POST.get("filename", ""),
            format=request.POST.get("format", "auto"),
            decomposition=request.POST.get("decomposition", ""),
            options=options_of(request.POST),
        )
        names = dict(ImportForm.base_fields["format"].choices)  # type: ignore[attr-defined]
        context |= {"preview": found, "format": names[found.format], "rules": _rules(), **for_page(found)}
    except DomainError as error:
        context["error"] = in_words(error.message)
    return render(request, "labelling_ui/import_preview.html", context)


@require_POST
@project_page(MANAGER)
def try_steps(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """What a rule makes of a text that was pasted."""
    form = TextForm(request.POST)
    context: dict[str, Any] = {"form": form}
    if form.is_valid():
        text, rule = form.cleaned_data["text"], form.cleaned_data["rule"]
        splitting = Splitting(rule)
        context |= {"steps": splitting.split(text).steps, "division": division_of([text], splitting), "rules": _rules()}
    return render(request, "labelling_ui/imports/steps_tried.html", context)


def _rules() -> dict[str, Any]:
    return dict(ImportForm.base_fields["decomposition"].choices)  # type: ignore[attr-defined]


def import_job(request: HttpRequest, job_id: int) -> HttpResponseBase:
    return _job_page(request, slug=slug_of(request, ImportJob, job_id), job_id=job_id)


def originals(request: HttpRequest, job_id: int) -> HttpResponseBase:
    """The lines that were not taken, as they were sent."""
    return _originals(request, slug=slug_of(request, ImportJob, job_id), job_id=job_id)


@project_page(MANAGER)
def _job_page(request: HttpRequest, member: Membership, job_id: int) -> HttpResponseBase:
    job = get_object_or_404(ImportJob, pk=job_id, project=member.project)
    context = {"member": member, "tab": "import", "job": job, "live": job.live, "progress": progress_of(job)}
    context["nothing_new"] = _why_nothing_is_new(job)
    context["warnings"] = warnings_in_words(job.warnings)
    if request.headers.get("HX-Request") and "sort" not in request.GET:
        page: HttpResponse = render(request, "labelling_ui/import_live.html", context)
        if not job.live:
            page.headers["HX-Refresh"] = "true"  # the rejected lines stand outside of the live part
        return page
    listing = Listing(request, job.rejections.all(), REJECTION_COLUMNS, sort="line")
    return respond(request, "labelling_ui/import_job.html", listing, f"import-{job.pk}-rejected", context)


@require_POST
@project_page(MANAGER)
def cancel_files(request: HttpRequest, member: Membership, group_id: int) -> HttpResponseBase:
    group = get_object_or_404(ImportGroup, pk=group_id, project=member.project)
    attempt(request, _("The imports stop within seconds. What they took in stays."), cancel_group, group=group)
    return redirect(f"{reverse('import', args=[member.project.slug])}?group={group.pk}")


@project_page(MANAGER)
def _originals(request: HttpRequest, member: Membership, job_id: int) -> HttpResponseBase:
    job = get_object_or_404(ImportJob, pk=job_id, project=member.project)
    return download(original_lines(job), name=f"import-{job.pk}-rejected.jsonl", content_type="application/x-ndjson")


def _why_nothing_is_new(job: ImportJob) -> str:
    """What became of a finished file that brought nothing; empty where it brought something."""
    if job.state != ImportJob.State.DONE or job.accepted:
        return ""
    if job.rejected and job.duplicates:
        return _("Nothing was taken in: what was not here already was rejected. The reasons are below.")
    if job.rejected:
        return _("Nothing was taken in: every record was rejected. The reasons are below.")
    return _("Everything in this file was here already.") if job.duplicates else ""
