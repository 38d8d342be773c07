"""A new project on one screen: its data with a preview, a template with its guidelines, people, and one button."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django_htmx.http import HttpResponseClientRedirect, push_url, reselect, reswap, retarget

from annotation.core.errors import DomainError
from annotation.core.membership.access import may_create_projects
from annotation.core.project_templates import TEMPLATES
from annotation.files.examples import EXAMPLES
from annotation.files.import_jobs import Manner
from annotation.files.import_preview import Preview
from annotation.loop.project_start import FirstFile, Start, start_project, suggest_template
from labelling_ui.pages.access import View, check_posted, login_required, posts_only, show_refusal, signed_in
from labelling_ui.pages.import_forms import RULES, ImportForm, format_choices, options_of
from labelling_ui.pages.import_previews import Sent, preview_of, sent_by
from labelling_ui.pages.settings.scheme import TermsField, in_lines

PASTED = "pasted.txt"
DEFAULT_TEMPLATE = "first_error"
SOURCES = [("file", _("A file")), ("text", _("Pasted text")), ("example", _("An example"))]


class NewProjectForm(forms.Form):
    """The whole page. Only the field that `source` names counts: `file`, `text` or `example`."""

    source = forms.ChoiceField(choices=SOURCES, initial="file", required=False, widget=forms.RadioSelect)
    file = forms.FileField(required=False, allow_empty_file=True, label=_("Choose a file, or drop it here"))
    text = forms.CharField(
        required=False,
        max_length=1_000_000,
        label=_("A problem, a blank line, and its solution"),
        help_text=_("Put a line of dashes before the next problem. JSON Lines and CSV work too."),
        widget=forms.Textarea({"rows": 9, "spellcheck": "false"}),
    )
    example = forms.ChoiceField(
        choices=lambda: [(example.name, example.title) for example in EXAMPLES.values()],
        required=False,
        label=_("Example"),
        widget=forms.RadioSelect,
    )
    format = forms.ChoiceField(choices=format_choices, required=False)
    decomposition = forms.ChoiceField(choices=RULES, required=False)
    template = forms.ChoiceField(choices=[(name, name) for name in TEMPLATES], initial=DEFAULT_TEMPLATE, required=False)
    clauses = TermsField(
        required=False,
        label=_("Clauses of your policy"),
        help_text=_("One per line, with its text after a bar: 2.1 | Never delete without asking."),
    )
    guidelines = forms.CharField(
        required=False,
        label=_("Guidelines"),
        help_text=_("Markdown, shown beside the work. You can change them later."),
        widget=forms.Textarea({"rows": 10}),
    )
    name = forms.CharField(
        required=False,
        max_length=200,
        label=_("Name"),
        help_text=_("If you leave it empty, the file's name."),
    )
    people = forms.CharField(
        required=False,
        label=_("Invite people (optional)"),
        help_text=_("User names or e-mail addresses, separated by commas. They join as annotators."),
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none"}),
    )

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        data["template"] = data.get("template") or DEFAULT_TEMPLATE
        data["source"] = data.get("source") or "file"
        empty = self.data.get("empty")
        if empty and not data.get("name", "").strip():
            self.add_error("name", gettext("Enter a name: an empty project has no file to be named after."))
        missing = {
            "file": gettext("Choose a file."),
            "text": gettext("Paste a problem and its solution."),
            "example": gettext("Choose an example."),
        }
        if not empty and not data.get(data["source"]) and data["source"] not in self.errors:
            self.add_error(data["source"], missing[data["source"]])
        return data

    def clean_people(self) -> list[str]:
        """The names without repetitions. A name with a space stays whole, so that `invite` rejects it."""
        names = (name.strip() for name in self.cleaned_data["people"].replace(";", ",").split(","))
        return list(dict.fromkeys(name for name in names if name))


def creators_only(view: Callable[..., HttpResponseBase]) -> View:
    """A page for those who may create projects."""

    @login_required
    @wraps(view)
    def page(request: HttpRequest) -> HttpResponseBase:
        if not may_create_projects(request.user):
            raise PermissionDenied(gettext("Managers and staff create projects. Ask one of them for yours."))
        return view(request)

    return page


@creators_only
def create(request: HttpRequest) -> HttpResponseBase:
    form = NewProjectForm(request.POST or None, request.FILES or None, initial=_initial())
    if request.method == "POST" and form.is_valid():
        try:
            start = _start(request, form)
        except DomainError as error:
            show_refusal(form, error, file=form.cleaned_data["source"], scheme="clauses", slug="name")
        else:
            return _answer(request, start)
    context = {
        "form": form,
        "templates": TEMPLATES.values(),
        "chosen": (form["template"].value() or DEFAULT_TEMPLATE),
        "source": (form["source"].value() or "file"),
        "guidelines": {template.name: template.guidelines for template in TEMPLATES.values()},
    }
    return render(request, "labelling_ui/project_create.html", context)


@posts_only
@creators_only
def preview(request: HttpRequest) -> HttpResponseBase:
    """Show the first records split into steps, and suggest a template."""
    sent = _sent_to_preview(request)
    if sent is None:
        return HttpResponseBadRequest("`source` names no data")
    posted = request.POST
    context = preview_of(sent, format=posted.get("format") or "auto", posted=posted)
    shown: Preview | None = context.get("preview")
    fields = ["format", *(shown.in_question if shown else ())]
    chosen = {name: posted[name] for name in fields if posted.get(name)}
    form = ImportForm(initial={"decomposition": "automatic", **chosen})
    if shown and not shown.lacks:
        example = EXAMPLES.get(request.POST.get("example", "")) if request.POST.get("source") == "example" else None
        context["suggests"] = example.template if example else suggest_template([one for _line, one in shown.records])
    overrides = [] if context.get("wrong_type") else [form[name] for name in fields]
    return render(request, "labelling_ui/import_preview.html", context | {"overrides": overrides})


def _sent_to_preview(request: HttpRequest) -> Sent | None:
    source, posted = request.POST.get("source"), request.POST
    if source == "text":
        return Sent(posted.get("text", "").encode(), whole=True, filename=PASTED)
    if source == "example" and posted.get("example") in EXAMPLES:
        path = EXAMPLES[posted["example"]].path
        return Sent(path.read_bytes(), whole=True, filename=path.name)
    return sent_by(request) if source == "file" else None


def _initial() -> dict[str, Any]:
    clauses = TEMPLATES["policy_rubric"].scheme["policy_clauses"]
    return {"guidelines": TEMPLATES[DEFAULT_TEMPLATE].guidelines, "clauses": in_lines(clauses)}


def _start(request: HttpRequest, form: NewProjectForm) -> Start:
    """Start the project that the form describes. Raises DomainError."""
    check_posted(request)
    data, template = form.cleaned_data, TEMPLATES[form.cleaned_data["template"]]
    file = None if request.POST.get("empty") else _first_file(data, request.POST)
    scheme = template.scheme
    if "policy_clauses" in scheme:
        scheme |= {"policy_clauses": data["clauses"]}
    # Guidelines that nobody has changed are those of the template, also without the script that exchanges them.
    written = _plain(data["guidelines"])
    untouched = not written or any(written == _plain(one.guidelines) for one in TEMPLATES.values())
    return start_project(
        by=signed_in(request),
        name=data["name"].strip() or _name_of(data),
        scheme=scheme,
        guidelines=template.guidelines if untouched else data["guidelines"],
        people=data["people"],
        file=file,
    )


def _first_file(data: dict[str, Any], posted: QueryDict) -> FirstFile:
    manner = Manner(data["format"] or "auto", data["decomposition"] or "automatic", options_of(posted))
    if data["source"] == "text":
        return FirstFile(PASTED, [data["text"].encode()], manner)
    if data["source"] == "example":
        path = EXAMPLES[data["example"]].path
        return FirstFile(path.name, [path.read_bytes()], manner)
    return FirstFile(data["file"].name, data["file"].chunks(), manner)


def _name_of(data: dict[str, Any]) -> str:
    if data["source"] == "text":
        return gettext("Pasted text")
    if data["source"] == "example":
        return str(EXAMPLES[data["example"]].title)
    return str(data["file"].name).split(".")[0].replace("_", " ").strip()[:200] or gettext("New project")


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _answer(request: HttpRequest, start: Start) -> HttpResponse:
    """The workbench; before it, the passwords of new accounts, or the progress of a large import."""
    slug, job = start.project.slug, start.job
    if job and job.rejected:
        text = ngettext(
            "%(n)s record of %(file)s was rejected. The Import page shows why.",
            "%(n)s records of %(file)s were rejected. The Import page shows why.",
            job.rejected,
        )
        messages.warning(request, text % {"n": job.rejected, "file": job.filename})
    if job is None:
        target = reverse("project", args=[slug])
    elif job.live:
        target = reverse("import-job", args=[job.pk])
    elif start.project.generations.exists():
        target = reverse("workbench", args=[slug])
    elif not start.project.solutions.exists():
        messages.info(request, gettext("The file has problems without solutions. Sample solutions for them here."))
        target = reverse("sampling", args=[slug])
    else:
        messages.info(
            request, gettext("Every solution in the file already has a label, so nothing waits to be labelled.")
        )
        target = reverse("project", args=[slug])
    if start.passwords:
        context = {"project": start.project, "passwords": start.passwords, "target": target}
        page = render(request, "labelling_ui/project_started.html", context)
        return reswap(reselect(retarget(push_url(page, target), "#content"), "#content"), "outerHTML")
    return HttpResponseClientRedirect(target) if request.htmx else redirect(target)  # type: ignore[attr-defined]
