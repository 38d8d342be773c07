"""Previews of an import: how a chosen file is read, and how a pasted text is split into steps."""

from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponseBadRequest, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext

from annotation.core.errors import DomainError
from annotation.core.wording import in_words
from annotation.files.import_preview import PREVIEW_BYTES, preview_import
from annotation.files.split_preview import Division, division_of
from annotation.models import Membership, Project
from labelling_ui.numbers import short
from labelling_ui.pages.access import MANAGER, project_action, whole_number
from labelling_ui.pages.columns import Choice, Number
from labelling_ui.pages.import_forms import RULES, ImportForm, TextForm, options_of
from labelling_ui.pages.listing import Table
from labelling_ui.pages.mapping import for_page
from prm.splitting import Splitting


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

    A file of a `wrong_type` is not text, so that choosing a format would not help. One that is only `long` can be
    imported all the same.
    """
    rule = posted.get("decomposition") or "automatic"
    try:
        options = options_of(posted)
        preview = preview_import(**sent._asdict(), format=format, decomposition=rule, options=options, project=project)
    except DomainError as error:
        code = getattr(error.message, "code", "")
        wrong_type = code == "file_type_unknown" and b"\0" in sent.head
        return {"error": in_words(error.message), "wrong_type": wrong_type, "long": code == "first_record_long"}
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
