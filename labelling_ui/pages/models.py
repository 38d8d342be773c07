"""Model versions: how good each is, what the gate said, and which one serves."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy

from annotation.models import Membership, ModelVersion
from labelling_ui.pages.access import STAFF, project_page
from labelling_ui.pages.listing import Column, Listing, respond
from labelling_ui.pages.model import imports_of
from labelling_ui.selectors.version_scores import holdout_f1

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
    return respond(request, "labelling_ui/models.html", listing, name, {"member": member, **imports_of(member)})


def _f1(version: ModelVersion, part: str) -> Any:
    score = holdout_f1(version)
    return getattr(score, part) if score else None
