"""How far labels can be trusted: batches that stand out, and each annotator's reliability."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.labels.quality import batches
from annotation.labels.quality.pace import Pace, pace_by_person
from annotation.labels.quality.trust import Trust, trust_by_person
from annotation.models import LabelBatch, LabelSource, Membership, Project
from annotation.work.gold.gold_accuracy import Accuracy
from annotation.work.gold.gold_answers import accuracy_by_person
from labelling_ui import words
from labelling_ui.pages.access import MANAGER, STAFF, attempt, posted_word, project_page
from labelling_ui.pages.listing import Column, Filters, Listing, respond
from labelling_ui.pages.people import PersonField
from labelling_ui.templatetags.figures import source_in_words


class BatchFilters(Filters):
    state = forms.ChoiceField(
        choices=[words.ALL, *LabelBatch.State.choices], required=False, label=gettext_lazy("State")
    )

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(**self.chosen())


class SetAsideForm(forms.Form):
    """Labels of one annotator that no alarm has named."""

    annotator = PersonField(Membership.objects.none(), label=gettext_lazy("Annotator"))
    since = forms.DateTimeField(label=gettext_lazy("From"), widget=forms.DateTimeInput({"type": "datetime-local"}))
    until = forms.DateTimeField(label=gettext_lazy("To"), widget=forms.DateTimeInput({"type": "datetime-local"}))
    reason = forms.CharField(max_length=500, label=gettext_lazy("Why"))

    def __init__(self, *args: Any, project: Project, **named: Any) -> None:
        super().__init__(*args, **named)
        annotator: forms.ModelChoiceField = self.fields["annotator"]  # type: ignore[assignment]
        annotator.queryset = project.memberships.select_related("user").order_by("user__username")


Members = dict[int, Membership]  # by its id, the user read with each

COLUMNS = [
    Column("found", gettext_lazy("Found"), lambda b: b.found_at.isoformat(), sort="found_at"),
    Column("by", gettext_lazy("Labels by"), lambda b: owner_of(b), sort="annotator__user__username"),
    Column("since", gettext_lazy("From"), lambda b: b.since.isoformat(), sort="since"),
    Column("until", gettext_lazy("To"), lambda b: b.until.isoformat(), sort="until"),
    Column("judged_by", gettext_lazy("Judged by"), lambda b: b.get_judge_display(), sort="judge"),
    Column("judged", gettext_lazy("Judged"), lambda b: b.evidence.get("judged"), number=True),
    Column("differed", gettext_lazy("Differed"), lambda b: b.evidence.get("differed"), number=True),
    Column("expected", gettext_lazy("Usual"), lambda b: b.evidence.get("expected"), number=True),
    Column("state", gettext_lazy("State"), lambda b: b.state, sort="state"),
]


@project_page(*STAFF)
def quality(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    rows = project.label_batches.select_related("annotator__user", "source", "decided_by")
    listing = Listing(request, rows, COLUMNS, sort="-found", filters=BatchFilters(request.GET))
    for batch in listing.page.object_list:
        batch.owner, batch.labels = owner_of(batch), batches.labels_of_batch(batch).count()
    members = {one.pk: one for one in project.memberships.select_related("user")}
    context = {
        "member": member,
        "people": _people(project, members),
        "paces": _paces(project, members),
        "gold": _on_gold(project, members),
        "form": SetAsideForm(project=project),
        "between": project.policies.quality.labels_between_false_alarms,
    }
    return respond(request, "labelling_ui/quality.html", listing, f"{project.slug}-batches", context)


@require_POST
@project_page(MANAGER)
def decide(request: HttpRequest, member: Membership, batch_id: int) -> HttpResponseBase:
    """Set a batch aside, or let it count."""
    batch = member.project.label_batches.filter(pk=batch_id).first()
    if batch is None:
        raise Http404("There is no such batch in this project.")
    reason = request.POST.get("reason", "")
    if posted_word(request, "decision", "set_aside", "resume") == "set_aside":
        told = _("Set aside: the next round learns without these labels, and their solutions may be asked for again.")
        attempt(request, told, batches.set_aside, batch=batch, reason=reason)
    else:
        attempt(request, _("These labels count."), batches.resume, batch=batch, reason=reason)
    return redirect("quality", member.project.slug)


@require_POST
@project_page(MANAGER)
def set_aside(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Set aside what no alarm has named."""
    form = SetAsideForm(request.POST, project=member.project)
    if not form.is_valid():
        messages.error(request, _("Name an annotator, from when to when, and why."))
        return redirect("quality", member.project.slug)
    attempt(request, _("Set aside."), batches.set_aside_by_hand, project=member.project, **form.cleaned_data)
    return redirect("quality", member.project.slug)


def owner_of(batch: LabelBatch) -> str:
    """Whose labels they are."""
    if batch.annotator:
        return batch.annotator.user.username
    return _named(batch.source) if batch.source else ""


def _named(source: LabelSource) -> str:
    """A source by its name, with its kind where it has one."""
    kind = source_in_words(source.kind)
    return f"{source.name} ({kind})" if source.name else kind


def _on_gold(project: Project, members: Members) -> list[tuple[Membership, Accuracy]]:
    """Each annotator's accuracy on hidden gold, the least right first."""
    found = [(members[who], accuracy) for who, accuracy in accuracy_by_person(project).items()]
    return sorted(found, key=lambda row: (row[1].right.value or 0, row[0].user.username))


def _paces(project: Project, members: Members) -> list[tuple[Membership, Pace]]:
    """How each annotator goes about it, who accepts most together first."""
    found = [(members[who], pace) for who, pace in pace_by_person(project).items()]
    return sorted(found, key=lambda row: (-(row[1].accepted.value or 0), row[0].user.username))


def _people(project: Project, members: Members) -> list[tuple[str, Trust]]:
    """Name and trust, the least informed first."""
    found = trust_by_person(project)
    names = {f"annotator {pk}": one.user.username for pk, one in members.items()}
    names |= {f"source {s.pk}": _named(s) for s in LabelSource.objects.filter(project=project)}
    return sorted(((names[who], trust) for who, trust in found.items()), key=lambda row: row[1].informedness)
