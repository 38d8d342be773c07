"""The tabs of a project: each member sees the pages that their role opens."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.models import Membership

register = template.Library()

ANYONE = list(Membership.Role)
STAFF = [Membership.Role.REVIEWER, Membership.Role.MANAGER]
MANAGERS = [Membership.Role.MANAGER]
TABS = [
    ("project", _("Overview"), ANYONE),
    ("labels", _("Labels"), ANYONE),
    ("solutions", _("Solutions"), STAFF),
    ("queue", _("Queue"), STAFF),
    ("review", _("Review"), STAFF),
    ("quality", _("Quality"), STAFF),
    ("gold", _("Gold"), STAFF),
    ("generations", _("Generations"), STAFF),
    ("runs", _("Runs"), STAFF),
    ("models", _("Models"), STAFF),
    ("serving", _("Serving"), STAFF),
    ("learning", _("Learning"), STAFF),
    ("import", _("Import"), MANAGERS),
    ("export", _("Export"), MANAGERS),
    ("members", _("Members"), MANAGERS),
    ("settings", _("Settings"), MANAGERS),
]


@register.inclusion_tag("labelling_ui/parts/tabs.html", takes_context=True)
def project_tabs(context: dict[str, Any]) -> dict[str, Any]:
    member = context["member"]
    tab = context.get("tab") or context["request"].resolver_match.url_name
    return {
        "tabs": [
            {"address": reverse(name, args=[member.project.slug]), "label": label, "current": name == tab}
            for name, label, roles in TABS
            if member.role in roles
        ]
    }
