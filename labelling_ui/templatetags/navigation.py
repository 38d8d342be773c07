"""The top of every page: the project's pages in groups, by role, and whether workers are starting."""

from typing import Any, NamedTuple

from django import template
from django.conf import settings
from django.template.context import Context
from django.template.loader_tags import BLOCK_CONTEXT_KEY
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from annotation.core.membership.access import STAFF
from annotation.models import Membership, Role

register = template.Library()

ANYONE = tuple(Role)
MANAGERS = (Role.MANAGER,)


class Tab(NamedTuple):
    """A page of the navigation: its URL name, label, roles, and the pages reached from it."""

    name: str
    label: Promise
    roles: tuple[Role, ...]
    pages: tuple[str, ...] = ()


# Daily work comes first. A group of one page is shown as that page, and the only group of a role as its pages.
GROUPS: list[tuple[Promise, list[Tab]]] = [
    (_("Overview"), [Tab("project", _("Overview"), STAFF)]),
    (
        _("Labelling"),
        [
            Tab("queue", _("Queue"), STAFF),
            Tab("review", _("Review"), STAFF, ("review-case", "disputes")),
            Tab("my-work", _("Your work"), ANYONE),
            Tab("labels", _("Labels"), ANYONE),
        ],
    ),
    (
        _("Quality"),
        [
            Tab("quality", _("Quality"), STAFF, ("contrasts", "hints", "labour", "agreement-filter", "member")),
            Tab("agreement", _("Agreement"), STAFF),
            Tab("annotators", _("Annotators"), STAFF, ("annotator",)),
            Tab("consensus-fits", _("Consensus"), STAFF, ("consensus-fit",)),
            Tab("gold", _("Gold"), STAFF),
        ],
    ),
    (
        _("Data"),
        [
            Tab("solutions", _("Solutions"), STAFF, ("solution", "answers", "judging", "judging-run")),
            Tab("import", _("Import"), MANAGERS, ("import-job", "sampling", "sampling-run", "test-results")),
            Tab(
                "datasets",
                _("Datasets"),
                MANAGERS,
                ("snapshot", "snapshot-diff", "contamination", "export-job", "export-schedules"),
            ),
        ],
    ),
    (
        _("Model"),
        [
            Tab("models", _("Models"), STAFF, ("model", "model-compare")),
            Tab("runs", _("Runs"), STAFF, ("run",)),
            Tab("generations", _("Generations"), STAFF, ("generation",)),
            Tab("learning", _("Learning"), STAFF, ("simulations", "simulation")),
            Tab("planner", _("Planner"), STAFF),
            Tab("serving", _("Serving"), STAFF, ("serving-limits", "served-scores", "served-score")),
            Tab("jobs", _("Jobs"), STAFF),
        ],
    ),
    (_("Members"), [Tab("members", _("Members"), MANAGERS, ("member", "machine", "machine-add"))]),
    (
        _("Settings"),
        [
            Tab("settings", _("Settings"), MANAGERS, ("settings-page", "webhooks", "webhook")),
            Tab("audit-log", _("Audit log"), MANAGERS),
        ],
    ),
]


@register.simple_tag(takes_context=True)
def heading(context: Context) -> SafeString:
    """Repeat the page's `heading` block, which is also the browser's title."""
    text: SafeString = context.render_context[BLOCK_CONTEXT_KEY].get_block("heading").render(context)
    return text


@register.inclusion_tag("labelling_ui/parts/tabs.html", takes_context=True)
def project_tabs(context: dict[str, Any]) -> dict[str, Any]:
    """The groups, each linked to its first page, and the pages of the open group."""
    member = context["member"]
    here = _tab_of(member, context["request"].resolver_match.url_name)
    groups = [_group(member, here, label, tabs) for label, tabs in _groups_of(member)]
    return {"groups": groups, "open": next((group for group in groups if group["current"]), None)}


def _tab_of(member: Membership, page: str) -> str:
    """The tab of the current page, or of the page it is reached from, if the member sees it."""
    tabs = (tab for _label, tabs in reversed(GROUPS) for tab in tabs if member.role in tab.roles)
    return next((tab.name for tab in tabs if page in (tab.name, *tab.pages)), "")


def _groups_of(member: Membership) -> list[tuple[Promise, list[Tab]]]:
    """The groups with the pages that the member sees."""
    groups = [(label, [tab for tab in tabs if member.role in tab.roles]) for label, tabs in GROUPS]
    groups = [(label, tabs) for label, tabs in groups if tabs]
    return groups if len(groups) > 1 else [(tab.label, [tab]) for _label, tabs in groups for tab in tabs]


def _group(member: Membership, here: str, label: Promise, tabs: list[Tab]) -> dict[str, Any]:
    pages = [
        {"address": reverse(tab.name, args=[member.project.slug]), "label": tab.label, "current": tab.name == here}
        for tab in tabs
    ]
    alone = len(pages) == 1
    current = any(page["current"] for page in pages)
    return {"label": pages[0]["label"] if alone else label, "pages": pages, "alone": alone, "current": current}


@register.simple_tag
def workers_starting() -> bool:
    """Whether a worker started with this web process is not ready yet."""
    return not all(ready.exists() for ready in settings.AWAITED_WORKERS)
