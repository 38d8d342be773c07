"""The differences between two snapshots of a project, by reason."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.core.errors import DomainError
from annotation.core.wording import in_words
from annotation.labels.datasets.comparing import Change, SnapshotDiff, diff_snapshots
from annotation.models import Membership, Snapshot, choices
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.pages.access import MANAGER, project_page
from labelling_ui.pages.columns import Column, Number
from labelling_ui.pages.listing import Table

MOST_SHOWN = 200
KINDS = {"added": _("Added"), "changed": _("Changed"), "lost": _("Lost")}
SUBJECTS = {"label": pgettext_lazy("noun", "Label"), "solution": _("Solution"), "consensus": _("Consensus")}
REASONS = {
    "new_label": _("new label"),
    "imported_later": _("imported later"),
    "batch_in_use": _("batch back in use"),
    "revision": _("new revision"),
    "dispute": _("dispute of the reference"),
    "filter": _("other filters"),
    "batch_set_aside": _("batch set aside"),
    "gold": _("now gold"),
    "person_erased": _("person erased"),
    "solution_removed": _("solution removed"),
    "label_removed": _("label removed"),
    "labels": _("other labels"),
    "method": _("other consensus method"),
    "fit": _("another consensus fit"),
    "edited": _("edited"),
}
COUNTS = [
    Column("subject", _("What"), write=SUBJECTS.__getitem__, heading=True),
    Column("kind", _("Change"), write=KINDS.__getitem__),
    Column("reason", _("Reason"), write=REASONS.__getitem__),
    Number("n", _("Number")),
]
CHANGES = [
    Column("of", _("What"), write=SUBJECTS.__getitem__, heading=True),
    Column("kind", _("Change"), write=KINDS.__getitem__),
    Column("reason", _("Reason"), write=REASONS.__getitem__),
    Column("problem", _("Problem")),
    Column("source_kind", _("Labels by"), write=lambda kind: dict(choices.SOURCE_KINDS).get(kind, "")),
    Column("annotator", _("Annotator"), lambda change: change.annotator or change.source_name),
    Column("fields", _("Fields"), lambda change: ", ".join(change.fields)),
]


@dataclass(frozen=True)
class Count:
    """The number of changes of one subject, kind and reason."""

    subject: str
    kind: str
    reason: str
    n: int


@project_page(MANAGER)
def snapshot_diff(request: HttpRequest, member: Membership, snapshot_id: int, old_id: int) -> HttpResponseBase:
    old, new = (get_object_or_404(member.project.snapshots, pk=pk) for pk in (old_id, snapshot_id))
    try:
        diff, changes = CachedFigures(request, member.project)(
            f"diff of {old.pk} and {new.pk}", partial(_first_changes, old, new)
        )
    except DomainError as error:
        messages.error(request, in_words(error.message))
        return redirect("snapshot", member.project.slug, new.pk)
    counts = Table(_counts(diff), COUNTS, name="counts")
    context: dict[str, Any] = {
        "old": old,
        "new": new,
        "diff": diff,
        "counts": counts,
        "changes": Table(changes, CHANGES, name="changes"),
        "most": MOST_SHOWN,
    }
    return render(request, "labelling_ui/snapshot_diff.html", context)


def _first_changes(old: Snapshot, new: Snapshot) -> tuple[SnapshotDiff, list[Change]]:
    """The numbers of changes, and as many changes as the page shows."""
    changes: list[Change] = []
    diff = diff_snapshots(old, new, on_change=lambda one: changes.append(one) if len(changes) < MOST_SHOWN else None)
    return diff, changes


def _counts(diff: SnapshotDiff) -> list[Count]:
    solutions = [Count("solution", "changed", "edited", diff.solutions["changed"])] if diff.solutions["changed"] else []
    labels = [Count("label", kind, reason, n) for kind, by in diff.labels.items() for reason, n in by.items()]
    return [*labels, *solutions, *(Count("consensus", "changed", reason, n) for reason, n in diff.consensus.items())]
