"""Contamination checks of a snapshot: the form that starts one, and what they found."""

from typing import Any

import msgspec
from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.wording import in_words
from annotation.files.uploads import store_file
from annotation.labels.datasets.contamination import BenchmarkFile, find_benchmark, request_check
from annotation.models import ContaminationCheck, Membership, Snapshot
from labelling_ui.pages.access import MANAGER, attempt, project_page
from labelling_ui.pages.columns import Column, Number, State, When
from labelling_ui.pages.import_forms import StorageForm
from labelling_ui.pages.listing import Listing, Table, respond
from labelling_ui.templatetags.figures import count
from prm.contamination import ContaminationReport, Overlap


class BenchmarkForm(StorageForm):
    field_order = ("file",)

    file = forms.FileField(
        required=False,
        label=_("Benchmark file"),
        help_text=_(
            "Any format that imports read, such as ProcessBench. Without a file, only near-duplicates are found."
        ),
    )


def _report(check: ContaminationCheck) -> ContaminationReport | None:
    return msgspec.convert(check.result, ContaminationReport) if check.result else None


def _found(check: ContaminationCheck, overlap: str) -> str:
    report = _report(check)
    if report is None or not report.benchmark:
        return ""
    counts: Overlap = getattr(report, overlap)
    return gettext("%(found)s of %(texts)s") % {"found": count(counts.found), "texts": count(counts.texts)}


def _repeated(check: ContaminationCheck, field: str) -> int | None:
    report = _report(check)
    return None if report is None else getattr(report, field)


COLUMNS = [
    When("started", _("Started"), "created_at", sort=True),
    Column("filename", _("Benchmark"), shown=lambda check: check.filename or gettext("none"), heading=True),
    State("state", _("State"), choices=ContaminationCheck.State.choices),
    Column(
        "problems",
        _("Overlapping problems"),
        lambda check: _found(check, "problems"),
        help=_("Problems that share 13 words in a row with the benchmark, or 70 % of their runs of 8 words."),
    ),
    Column(
        "solutions",
        _("Overlapping solutions"),
        lambda check: _found(check, "solutions"),
        help=_("Solutions that share 70 % of their runs of 8 words with a solution of the benchmark."),
    ),
    Number(
        "duplicates",
        _("Near-duplicates"),
        lambda check: _repeated(check, "duplicates"),
        help=_("Problems of the snapshot that are almost the same as another one."),
    ),
    Number(
        "across",
        _("Across splits"),
        lambda check: _repeated(check, "across_splits"),
        help=_("Groups of near-duplicates whose problems are in several splits."),
    ),
    Column("error", _("Outcome"), write=in_words),
]
HITS = [
    Column("of", _("What"), write=lambda of: {"problem": _("Problem"), "solution": _("Solution")}[of]),
    Column("id", _("Id"), heading=True),
    Column("benchmark_id", _("Id in the benchmark")),
    Column("split", _("Split")),
    Column("excerpt", _("Text")),
]


@project_page(MANAGER)
def contamination(request: HttpRequest, member: Membership, snapshot_id: int) -> HttpResponseBase:
    snapshot = get_object_or_404(member.project.snapshots.select_related("project"), pk=snapshot_id)
    form = BenchmarkForm(request.POST, request.FILES) if request.method == "POST" else BenchmarkForm()
    if form.is_bound and form.is_valid() and attempt(request, "", _start, snapshot=snapshot, chosen=form.cleaned_data):
        return redirect("contamination", member.project.slug, snapshot.pk)
    checks = snapshot.contamination_checks.select_related("project")
    listing = Listing(request, checks, COLUMNS, sort="-started")
    latest = next((report for check in checks if (report := _report(check))), None)
    context = {
        "snapshot": snapshot,
        "form": form,
        "live": checks.filter(state__in=ContaminationCheck.LIVE).first(),
        "hits": Table(latest.hits if latest else [], HITS, name="hits"),
    }
    return respond(request, "labelling_ui/contamination.html", listing, "contamination", context)


def _start(*, by: User, snapshot: Snapshot, chosen: dict[str, Any]) -> ContaminationCheck:
    benchmark = None
    if chosen.get("root"):
        benchmark = find_benchmark(chosen["root"], chosen["path"])
    elif file := chosen["file"]:
        place = store_file(pieces=file.chunks(), filename=file.name)
        benchmark = BenchmarkFile(place, file.name)
    return request_check(by=by, snapshot=snapshot, benchmark=benchmark)
