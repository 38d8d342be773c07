"""Model versions: how good each is, what the gate said, and which one serves."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.models import Membership, ModelVersion
from annotation.rounds.registry import promote_version
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_page
from labelling_ui.pages.listing import Column, Listing, respond
from labelling_ui.selectors.models import holdout_f1

COLUMNS = [
    Column("model", gettext_lazy("Model"), lambda v: v.number, sort="number"),
    Column("state", gettext_lazy("State"), lambda v: v.state, sort="state"),
    Column("f1", gettext_lazy("Holdout F1"), lambda v: _f1(v, "value"), number=True),
    Column("gate", gettext_lazy("What the gate said"), lambda v: v.gate.get("sentence", "")),
    Column("trained", gettext_lazy("Trained"), lambda v: v.created_at.isoformat(), sort="created_at"),
    Column("sha256", gettext_lazy("Weights"), lambda v: v.sha256),
]


@project_page(*STAFF)
def models(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = member.project.model_versions.select_related("run", "snapshot")
    listing = Listing(request, rows, COLUMNS, sort="-model")
    for version in listing.page.object_list:
        version.f1 = holdout_f1(version)
    name = f"{member.project.slug}-models"
    return respond(request, "labelling_ui/models.html", listing, name, {"member": member})


@require_POST
@project_page(MANAGER)
def promote(request: HttpRequest, member: Membership, version_id: int) -> HttpResponseBase:
    version = member.project.model_versions.filter(pk=version_id).first()
    if version is None:
        raise Http404("There is no such model in this project.")
    attempt(
        request,
        _("Model %(number)s serves now.") % {"number": version.number},
        promote_version,
        version=version,
    )
    return redirect("models", member.project.slug)


def _f1(version: ModelVersion, part: str) -> Any:
    score = holdout_f1(version)
    return getattr(score, part) if score else None
