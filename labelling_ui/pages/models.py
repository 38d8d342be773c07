"""Model versions: how good each is, what the gate said, and which one serves."""

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy

from annotation.core.wording import in_words
from annotation.models import Membership, ModelVersion
from labelling_ui.pages.access import STAFF, project_page
from labelling_ui.pages.columns import Column, Estimate, State, When
from labelling_ui.pages.listing import Listing, respond
from labelling_ui.pages.model import imports_of
from labelling_ui.templatetags.figures import digest, hundredths

COLUMNS = [
    Column("model", gettext_lazy("Model"), "number", sort=True, link="model", heading=True),
    State("state", gettext_lazy("State"), sort=True, choices=ModelVersion.State.choices),
    Estimate("f1", gettext_lazy("Holdout F1"), "metrics__f1", write=hundredths),
    Column("gate", gettext_lazy("What the gate said"), "gate__sentence", write=in_words, look="gate-text"),
    When("trained", gettext_lazy("Trained"), "created_at", sort=True),
    Column("sha256", gettext_lazy("Weights"), write=digest),
]


@project_page(*STAFF)
def models(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = member.project.model_versions.select_related("run", "snapshot")
    listing = Listing(request, rows, COLUMNS, sort="-model")
    name = f"{member.project.slug}-models"
    return respond(request, "labelling_ui/models.html", listing, name, {"member": member, **imports_of(member)})
