"""Model versions: the list, the page of one, the comparison of two, and a manager's actions."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.api.downloads import download
from annotation.core import storage
from annotation.core.errors import Missing
from annotation.core.membership.members import domains_of
from annotation.core.wording import in_words
from annotation.loop.gateway.training import model_key
from annotation.loop.model_jobs import auditing
from annotation.loop.model_jobs.exporting import export_name, is_exported, packed_export
from annotation.loop.model_jobs.importing import importable_folders, request_measurement
from annotation.loop.model_jobs.jobs import request_audit, request_export, request_import
from annotation.loop.pool.scoring import rescore_pool
from annotation.loop.registry import (
    clear_domain_champion,
    confirm_version,
    pin_version,
    promote_version,
    set_domain_champion,
    unpin_version,
)
from annotation.models import Membership, ModelJob, ModelVersion, PoolScoring
from labelling_ui import words
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_action, project_page, whole_number
from labelling_ui.pages.columns import Column, Estimate, Number, State, When
from labelling_ui.pages.listing import Listing, Table, respond
from labelling_ui.selectors import model_versions
from labelling_ui.selectors.training import costs_of
from labelling_ui.templatetags.figures import digest, hundredths

COLUMNS = [
    Column("model", _("Model"), "number", sort=True, link="model", heading=True),
    State("state", _("State"), sort=True, choices=ModelVersion.State.choices),
    Estimate("f1", _("Holdout F1"), "metrics__f1", write=hundredths, term="f1"),
    Column("gate", _("Gate"), "gate__sentence", write=in_words, look="gate-text", term="gate"),
    When("trained", _("Trained"), "created_at", sort=True),
    Column("sha256", _("Weights"), write=digest),
]


@project_page(*STAFF)
def models(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = member.project.model_versions.select_related("run", "snapshot")
    listing = Listing(request, rows, COLUMNS, sort="-model")
    imports = member.project.model_jobs.filter(kind=ModelJob.Kind.IMPORT).select_related("model_version")
    context = {"importable": importable_folders(), **_watched(imports)}
    return respond(request, "labelling_ui/models.html", listing, "models", context)


METRICS = [
    Column("domain", _("Domain"), heading=True),
    Number("n_solutions", _("Solutions"), help=_("The holdout solutions that were measured.")),
    Estimate("processbench_f1", _("ProcessBench F1"), write=hundredths, term="f1"),
    Estimate(
        "first_error_accuracy",
        _("Exact first error"),
        write=hundredths,
        term="first_error",
        help=_("The share of solutions where the model finds exactly the first error, or rightly none."),
    ),
    Estimate("step_auroc", _("Step AUROC"), write=hundredths, term="auroc"),
    Estimate(
        "index_auroc",
        _("AUROC by position alone"),
        write=hundredths,
        term="baseline",
        help=_("AUROC of a baseline that knows only the position of a step; a useful model is clearly above it."),
    ),
    Estimate("step_auprc", _("Step AUPRC"), write=hundredths, term="auprc"),
    Estimate("ece", _("Calibration error"), write=hundredths, term="calibration_error"),
]
FINDINGS = [
    Column("audit", _("Audit"), "title", heading=True, write=in_words, term="audit"),
    State("verdict", _("Verdict"), choices=words.AUDIT_VERDICTS),
    Column("finding", _("Finding"), "sentence", write=in_words),
]
ACTIONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "promote": (promote_version, _("Promoted. This model serves now, and the rest of the pool is being scored.")),
    "confirm": (confirm_version, _("Confirmed. This model answers programs now.")),
    "pin": (pin_version, _("Pinned. The gate does not replace this model, and its weights are kept.")),
    "unpin": (unpin_version, _("Unpinned. The gate can replace this model, and retention can delete its weights.")),
    "audit": (request_audit, _("The audits are queued. They take a few minutes.")),
    "export": (request_export, _("The export is queued. The download appears here.")),
    "measure": (request_measurement, _("A round is measuring this model. It trains nothing.")),
    "rescore": (rescore_pool, _("The pool is being scored again.")),
}


@project_page(*STAFF)
def model(request: HttpRequest, member: Membership, number: int) -> HttpResponse:
    version = _find(member, number)
    history = [(entry, model_versions.describe_entry(entry, version)) for entry in model_versions.history_of(version)]
    context = {
        "version": version,
        "run": getattr(version, "run", None),
        "unmeasured": _unmeasured(version),
        "unconfirmed": not (version.answers_programs or _unmeasured(version) or version.weights_deleted_at),
        "audit": version.jobs.filter(kind=ModelJob.Kind.AUDIT).first(),
        "may_serve": member.role == MANAGER and _may_serve(version),
        "metrics": Table(model_versions.metric_rows(version), METRICS, name=gettext("Measured on the holdout")),
        "findings": Table(version.audits.findings if version.audits else [], FINDINGS),
        "facts": model_versions.facts_of(version),
        "costs": costs_of(version),
        "parent": model_versions.parent_of(version),
        "history": history,
        "card": model_versions.card_of(version),
        **_watched(version.jobs.exclude(kind=ModelJob.Kind.IMPORT)),
        "exported": is_exported(version),
        "scoring": PoolScoring.objects.filter(model_version=version).first(),
        "own_domains": version.domains.all(),
        "domains": list(filter(None, domains_of(member.project))),
        "others": member.project.model_versions.exclude(pk=version.pk).order_by("-number"),
    }
    return render(request, "labelling_ui/model.html", context)


@project_action(MANAGER)
def act(request: HttpRequest, member: Membership, number: int, action: str) -> HttpResponseBase:
    version = _find(member, number)
    if action not in ACTIONS:
        raise Http404("There is no such action.")
    service, done = ACTIONS[action]
    attempt(request, str(done), service, version=version)
    return redirect("model", member.project.slug, number)


@project_action(MANAGER)
def serve_domain(request: HttpRequest, member: Membership, number: int) -> HttpResponseBase:
    version, domain = _find(member, number), request.POST.get("domain", "")
    if request.POST.get("clear"):
        done, service = gettext("The project’s champion serves the domain “%(d)s” again."), clear_domain_champion
        attempt(request, done % {"d": domain}, service, project=member.project, domain=domain)
    else:
        done = gettext("This model now serves the domain “%(d)s”.")
        attempt(request, done % {"d": domain}, set_domain_champion, version=version, domain=domain)
    return redirect("model", member.project.slug, number)


@project_page(MANAGER)
def exported(request: HttpRequest, member: Membership, number: int) -> HttpResponseBase:
    version = _find(member, number)
    try:
        content = packed_export(version)
    except Missing as error:
        raise Http404(in_words(error.message)) from None
    return download(content, name=f"{export_name(version)}.tar", content_type="application/x-tar")


@project_page(*STAFF)
def audit_page(request: HttpRequest, member: Membership, number: int) -> HttpResponse:
    """The audit report as a page. It quotes solutions, so scripts are blocked."""
    name = f"{auditing.FOLDER}/{auditing.PAGE}"
    path = storage.fetch(model_key(_find(member, number)), name) / name
    if not path.is_file():
        raise Http404("This model was not audited yet.")
    response = HttpResponse(path.read_bytes(), content_type="text/html; charset=utf-8")
    response["Content-Security-Policy"] = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return response


@project_page(*STAFF)
def compare(request: HttpRequest, member: Membership) -> HttpResponse:
    """Two versions side by side."""
    pair = [_find(member, whole_number(request.GET.get(name)) or 0) for name in ("a", "b")]
    names = [gettext("Model %(n)s") % {"n": version.number} for version in pair]
    sides = [
        {"version": version, "metrics": Table(model_versions.metric_rows(version), METRICS, name=name)}
        for version, name in zip(pair, names, strict=True)
    ]
    first, second = (dict(model_versions.facts_of(version)) for version in pair)
    facts = [{"fact": name, "a": first.get(name), "b": second.get(name)} for name in first | second]
    facts += [{"fact": name, "a": one, "b": other} for name, one, other in model_versions.options_that_differ(*pair)]
    columns = [Column("fact", gettext("Property"), heading=True), Column("a", names[0]), Column("b", names[1])]
    context = {
        "sides": sides,
        "facts": Table(facts, columns, name=gettext("Two models")),
    }
    return render(request, "labelling_ui/model_compare.html", context)


@project_action(MANAGER)
def import_model(request: HttpRequest, member: Membership) -> HttpResponseBase:
    separator = request.POST.get("separator", "").replace("\\n", "\n").replace("\\t", "\t") or "\n"
    service = partial(request_import, project=member.project, folder=request.POST.get("folder", ""))
    good = whole_number(request.POST.get("good"))
    done = gettext("The import is queued. The model appears here as a challenger, and the gate measures it.")
    attempt(request, done, service, separator=separator, good=1 if good is None else good)
    return redirect("models", member.project.slug)


def _watched(jobs: QuerySet[ModelJob]) -> dict[str, Any]:
    """The latest jobs on a model, polled while one of them is live."""
    latest = list(jobs[:5])
    return {"jobs": latest, "jobs_live": any(job.live for job in latest)}


def _find(member: Membership, number: int) -> ModelVersion:
    return get_object_or_404(member.project.model_versions.select_related("project", "snapshot"), number=number)


def _may_serve(version: ModelVersion) -> bool:
    return not (version.state == ModelVersion.State.CHAMPION or version.weights_deleted_at or _unmeasured(version))


def _unmeasured(version: ModelVersion) -> bool:
    """Whether the model was imported and never measured by the gate."""
    return version.origin == ModelVersion.Origin.IMPORTED and version.gate is None
