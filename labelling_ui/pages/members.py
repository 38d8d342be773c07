"""The members of a project, and the page of one: permission to label and accuracy on known answers."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.errors import DomainError
from annotation.core.membership.accounts import invite
from annotation.core.membership.members import change_role, domains_of, qualify, remove
from annotation.labels.agreement.cube import AgreementCell, Compared, Cube
from annotation.labels.labour.statistics import LabelFigures, label_figures, members_with_figures
from annotation.models import HIDDEN_LANES, MEMBER_NAME, Lane, Membership, Project, ScreeningDecision
from annotation.work.gold.gold_accuracy import Accuracy, accuracy_of, grouped, is_right
from annotation.work.gold.gold_answers import accuracy_by_person, answers_to, confusion_of, read_answers
from annotation.work.gold.screening import attempt_of, decide, latest_decision, standing_by
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.pages.access import (
    MANAGER,
    STAFF,
    attempt,
    posted_word,
    project_action,
    project_page,
    show_refusal,
    signed_in,
)
from labelling_ui.pages.columns import Choice, Column, Control, Duration, Estimate, FirstError, Number, Share, When
from labelling_ui.pages.listing import Filters, Listing, Table, respond
from labelling_ui.pages.people import ON_GOLD, Figures
from labelling_ui.templatetags.figures import percent, role_in_words

REMOVED = "removed"  # what the button sends in place of a role


class InviteForm(forms.Form):
    username = forms.CharField(
        max_length=150,
        label=_("User name"),
        help_text=_("New people get an account and a first password."),
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none"}),
    )
    role = forms.ChoiceField(choices=Membership.Role.choices, label=_("Role"))


@project_page(MANAGER)
def members(request: HttpRequest, member: Membership) -> HttpResponseBase:
    figures, agreement, gold = CachedFigures(request, member.project)("members", partial(_figures, member.project))
    form = InviteForm(request.POST if request.method == "POST" else None)
    invited: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        try:
            new, password = invite(by=signed_in(request), project=member.project, **form.cleaned_data)
        except DomainError as error:
            show_refusal(form, error, otherwise="username")
        else:
            if password is None:
                messages.success(request, gettext("%(name)s is now a member.") % {"name": new.name})
                return redirect("members", member.project.slug)
            # shown now and never again, so it is not left in a session or an address
            invited = {"username": new.name, "password": password}
            form = InviteForm()
    everyone = members_with_figures(member.project, figures)
    rows = everyone.filter(Q(active=True) | Q(user=None)).annotate(by_name=MEMBER_NAME)
    columns = _columns(agreement, gold)
    listing = Listing(request, rows, columns, sort="name", filters=Filters(request.GET, columns))
    context = {"form": form, "invited": invited, "roles": Membership.Role.choices}
    return respond(request, "labelling_ui/members.html", listing, "members", context)


def _figures(project: Project) -> tuple[LabelFigures, dict[str, AgreementCell], dict[int, Accuracy]]:
    """The labels of each member, their agreement with others by pseudonym, and their accuracy on gold."""
    agreement = {cell.row: cell for cell in Cube(project, Compared()).cells("exact", "annotator")}
    return label_figures(project), agreement, accuracy_by_person(project)


@project_action(MANAGER)
def change(request: HttpRequest, member: Membership, member_id: int) -> HttpResponseBase:
    """Change a member's role, or end the membership."""
    other = _find(member, member_id)
    role, name = posted_word(request, "role", *Membership.Role.values, REMOVED), other.shown_name
    if role != REMOVED:
        message = gettext("%(name)s has the role “%(role)s” now.") % {"name": name, "role": role_in_words(role)}
        attempt(request, message, change_role, membership=other, role=role)
    else:
        message = gettext("%(name)s is no longer a member. Their labels stay.") % {"name": name}
        attempt(request, message, remove, membership=other)
    return redirect("members", member.project.slug)


def _columns(agreement: dict[str, AgreementCell], gold: dict[int, Accuracy]) -> list[Column]:
    return [
        Column("name", _("Name"), "shown_name", sort="by_name", heading=True),
        Choice("kind", _("Kind"), sort=True, choices=Membership.Kind.choices, filtered=True),
        Choice("role", _("Role"), sort=True, choices=Membership.Role.choices),
        Number("labels", _("Labels"), lambda m: m.labels or 0, sort="labels"),
        Duration(
            "median_seconds",
            _("Median time"),
            lambda m: m.median_ms and m.median_ms / 1000,
            sort="median_ms",
            help=_("The median active time on one label, without breaks."),
        ),
        Estimate(
            "agreement",
            _("Agreement"),
            lambda m: agreement.get(str(m.pseudonym)),
            write=percent,
            term="agreement",
            help=_("The share of other people’s labels on the same solutions that name the same first error."),
        ),
        Number(
            "compared",
            _("Compared labels"),
            lambda m: agreement[str(m.pseudonym)].pairs if str(m.pseudonym) in agreement else 0,
            help=_("Other people’s labels on the same solutions."),
        ),
        Share(
            "gold",
            _("Right on gold"),
            lambda m: gold[m.pk].right.value if m.pk in gold else None,
            term="gold",
            help=_("The share of gold answers within the project’s tolerance of the known first error."),
        ),
        When("joined", _("Joined"), "joined_at", sort=True),
        Control("actions", _("Actions")),
    ]


RATING_NAMES = (_("good"), _("neutral"), _("bad"))
GOLD_COLUMNS = [
    When("submitted", _("Submitted"), "submitted_at", sort=True),
    Choice("lane", _("Lane"), sort=True, choices=Lane.choices, term="lane"),
    Number("solution", _("Solution"), "solution_id", sort=True, link="solution", write=str),
    FirstError("first_error", _("First error"), sort=True, term="first_error"),
    FirstError("known", _("Known first error"), "solution__gold_answer__annotation__first_error"),
]


GENERATION = Column("generation", _("Generation"), "who", heading=True, term="generation")


@project_page(*STAFF)
def member(request: HttpRequest, member: Membership, member_id: int) -> HttpResponseBase:
    person = _find(member, member_id)
    project, policy = member.project, member.project.policies
    answers = read_answers(answers_to(project, annotator=person))
    rows = answers_to(project, lanes=HIDDEN_LANES, annotator=person).select_related("solution__gold_answer__annotation")
    listing = Listing(request, rows, GOLD_COLUMNS, sort="-submitted")
    hold_against_known(listing.page.object_list, tolerance=policy.gold.tolerance)
    accuracy = accuracy_of(answers, tolerance=policy.gold.tolerance)
    by_generation = [
        Figures(number, accuracy_of(some, tolerance=policy.gold.tolerance))
        for number, some in sorted(grouped(answers, "generation").items())
    ]
    latest = latest_decision(person)
    now = standing_by(latest, person)
    cached = CachedFigures(request, project)
    confusion = cached(f"confusion of {person.pk}", lambda: confusion_of(project, person).tolist())
    context: dict[str, Any] = {
        "person": person,
        "standing": now,
        "domains": domains_of(project),
        "screening": policy.screening,
        "attempt": attempt_of(person, latest) if now == ScreeningDecision.Outcome.AGAIN else None,
        "decisions": person.screening_decisions.select_related("by").order_by("-pk"),
        "accuracy": accuracy,
        "by_generation": Table([*by_generation, Figures(gettext("all"), accuracy)], [GENERATION, *ON_GOLD]),
        "confusion": _confusion(confusion),
    }
    return respond(request, "labelling_ui/member.html", listing, f"gold-answers-{person.shown_name}", context)


@project_action(MANAGER)
def screen(request: HttpRequest, member: Membership, member_id: int) -> HttpResponseBase:
    """Qualify a person, screen them, or block them from labelling."""
    person = _find(member, member_id)
    outcome = request.POST.get("outcome", "")
    message = {
        "passed": gettext("%(name)s can label now."),
        "again": gettext("%(name)s gets a screening next."),
        "failed": gettext("%(name)s gets no more work."),
        "paused": gettext("%(name)s is paused."),
    }.get(outcome, "")
    done = message % {"name": person.shown_name} if message else ""
    attempt(request, done, decide, membership=person, outcome=outcome, reason=request.POST.get("reason", ""))
    return redirect("member", member.project.slug, person.pk)


@project_action(MANAGER)
def qualify_member(request: HttpRequest, member: Membership, member_id: int) -> HttpResponseBase:
    """Choose the domains that a person labels, or all."""
    person = _find(member, member_id)
    domains = None if request.POST.get("all") else request.POST.getlist("domains")
    message = gettext("%(name)s gets problems from the domains you chose.") % {"name": person.shown_name}
    attempt(request, message, qualify, membership=person, domains=domains)
    return redirect("member", member.project.slug, person.pk)


def hold_against_known(answers: Iterable[Any], *, tolerance: int) -> None:
    """Give each answer the reference (`known`), and whether it is `right`."""
    for answer in answers:
        gold = answer.solution.gold_answer
        answer.known = gold.annotation
        answer.right = is_right(answer.first_error, answer.known.first_error, gold.accepted, tolerance=tolerance)


def _nth(row: Figures, *, n: int) -> Any:
    return row.figures[n]


def _confusion(counts: list[list[int]]) -> Table:
    """The confusion table of a member's ratings against the reference."""
    ratings = (gettext("rated %(name)s") % {"name": name} for name in RATING_NAMES)
    columns = [Number(label, label, partial(_nth, n=n)) for n, label in enumerate(ratings)]
    rows = [Figures(name, row) for name, row in zip(RATING_NAMES, counts, strict=True)]
    return Table(rows, [Column("reference", gettext("Reference"), "who", heading=True), *columns])


def _find(member: Membership, member_id: int) -> Membership:
    return get_object_or_404(member.project.memberships.select_related("user", "project"), pk=member_id)
