"""Who is in a project, what they do, and how well they agree with the others."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.core.errors import DomainError, Forbidden
from annotation.core.membership.accounts import invite
from annotation.core.membership.members import change_role, remove
from annotation.core.wording import in_words
from annotation.labels.quality.agreement import agreement_by_member
from annotation.labels.quality.statistics import Median
from annotation.models import Membership, ScreeningDecision
from annotation.work.annotations import latest_annotations
from annotation.work.gold.gold_accuracy import Accuracy
from annotation.work.gold.gold_answers import accuracy_by_person
from labelling_ui.pages.access import MANAGER, attempt, posted_word, project_page, signed_in
from labelling_ui.pages.columns import Choice, Column, Control, Duration, Number, Share, When
from labelling_ui.pages.listing import Listing, respond

REMOVED = "removed"  # what the button sends in place of a role


class InviteForm(forms.Form):
    username = forms.CharField(
        max_length=150,
        label=gettext_lazy("User name"),
        help_text=gettext_lazy("Somebody new gets an account and a first password."),
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none"}),
    )
    role = forms.ChoiceField(choices=Membership.Role.choices, label=gettext_lazy("Role"))


@project_page(MANAGER)
def members(request: HttpRequest, member: Membership) -> HttpResponseBase:
    form = InviteForm(request.POST if request.method == "POST" else None)
    invited: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        try:
            new, password = invite(by=signed_in(request), project=member.project, **form.cleaned_data)
        except Forbidden:
            raise
        except DomainError as error:
            form.add_error("role" if error.extra.get("field") == "role" else "username", in_words(error.message))
        else:
            if password is None:
                messages.success(request, _("%(name)s is in.") % {"name": new.user.username})
                return redirect("members", member.project.slug)
            # shown now and never again, so it is not left in a session or an address
            invited = {"username": new.user.username, "password": password}
            form = InviteForm()
    agreement, gold = agreement_by_member(member.project), accuracy_by_person(member.project)
    listing = Listing(request, _members(member), _columns(agreement, gold), sort="name")
    context = {"member": member, "form": form, "invited": invited, "roles": Membership.Role.choices}
    return respond(request, "labelling_ui/members.html", listing, f"{member.project.slug}-members", context)


@require_POST
@project_page(MANAGER)
def change(request: HttpRequest, member: Membership, member_id: int) -> HttpResponseBase:
    """Change a member's role, or end the membership."""
    other = member.project.memberships.select_related("user", "project").filter(pk=member_id).first()
    if other is None:
        raise Http404("There is no such member in this project.")
    role, name = posted_word(request, "role", *Membership.Role.values, REMOVED), other.user.username
    if role != REMOVED:
        told = _("%(name)s is %(role)s now.") % {"name": name, "role": role}
        attempt(request, told, change_role, membership=other, role=role)
    else:
        told = _("%(name)s is out. What they labelled stays.") % {"name": name}
        attempt(request, told, remove, membership=other)
    return redirect("members", member.project.slug)


def _members(member: Membership) -> Any:
    decisions = ScreeningDecision.objects.filter(membership=OuterRef("pk")).order_by("-pk")
    labels = latest_annotations(member.project).filter(annotator=OuterRef("pk")).order_by().values("annotator")
    return (
        member.project.memberships.filter(active=True)
        .select_related("user")
        .annotate(
            decision=Subquery(decisions.values("outcome")[:1]),
            labels=Subquery(labels.annotate(n=Count("pk")).values("n")),
            median_ms=Subquery(labels.annotate(m=Median("total_ms")).values("m")),
        )
    )


def _columns(agreement: dict[int, float], gold: dict[int, Accuracy]) -> list[Column]:
    return [
        Column("name", gettext_lazy("Name"), "user__username", sort=True, heading=True),
        Choice("role", gettext_lazy("Role"), sort=True, choices=Membership.Role.choices),
        Number("labels", gettext_lazy("Labels"), lambda m: m.labels or 0, sort="labels"),
        Duration(
            "median_seconds",
            gettext_lazy("Median time"),
            lambda m: m.median_ms and m.median_ms / 1000,
            sort="median_ms",
        ),
        Share("agreement", gettext_lazy("Agreement"), lambda m: agreement.get(m.pk)),
        Share("gold", gettext_lazy("Right on gold"), lambda m: gold[m.pk].right.value if m.pk in gold else None),
        When("joined", gettext_lazy("Joined"), "joined_at", sort=True),
        Control("actions", gettext_lazy("Actions")),
    ]
