"""One person of a project: whether they may label, and how well they answer what is known."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBadRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.core.membership.members import domains_of, mark_machine, qualify
from annotation.labels.quality.pace import pace_by_person
from annotation.models import HIDDEN_LANES, Lane, Membership, Project, ScreeningDecision
from annotation.work.gold.gold_accuracy import accuracy_of, grouped, is_right
from annotation.work.gold.gold_answers import answers_to, confusion_of, read_answers
from annotation.work.gold.screening import attempt_of, decide, latest_decision, standing_by
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_page
from labelling_ui.pages.columns import Choice, Column, FirstError, Number, When
from labelling_ui.pages.listing import Listing, Table, respond
from labelling_ui.pages.people import ON_GOLD, PACE, Figures

RATING_NAMES = (gettext_lazy("good"), gettext_lazy("neutral"), gettext_lazy("bad"))
COLUMNS = [
    When("submitted", gettext_lazy("Submitted"), "submitted_at", sort=True),
    Choice("lane", gettext_lazy("Lane"), sort=True, choices=Lane.choices),
    Number("solution", gettext_lazy("Solution"), "solution_id", sort=True, link="solution", write=str),
    FirstError("first_error", gettext_lazy("First error"), sort=True),
    FirstError("known", gettext_lazy("Known"), "solution__gold_answer__annotation__first_error"),
]


GENERATION = Column("generation", gettext_lazy("Generation"), "who", heading=True)


@project_page(*STAFF)
def member(request: HttpRequest, member: Membership, member_id: int) -> HttpResponseBase:
    person = _find(member, member_id)
    project, policy = member.project, member.project.policies
    answers = read_answers(answers_to(project, annotator=person))
    rows = answers_to(project, lanes=HIDDEN_LANES, annotator=person).select_related("solution__gold_answer__annotation")
    listing = Listing(request, rows, COLUMNS, sort="-submitted")
    hold_against_known(listing.page.object_list, tolerance=policy.gold.tolerance)
    accuracy = accuracy_of(answers, tolerance=policy.gold.tolerance)
    by_generation = [
        Figures(number, accuracy_of(some, tolerance=policy.gold.tolerance))
        for number, some in sorted(grouped(answers, "generation").items())
    ]
    latest = latest_decision(person)
    now = standing_by(latest, person)
    context: dict[str, Any] = {
        "member": member,
        "tab": "members" if member.role == MANAGER else "quality",
        "person": person,
        "standing": now,
        "domains": domains_of(project),
        "screening": policy.screening,
        "attempt": attempt_of(person, latest) if now == ScreeningDecision.Outcome.AGAIN else None,
        "decisions": person.screening_decisions.select_related("by").order_by("-pk"),
        "pace": Table([Figures(person, pace) for pace in pace_by_person(project, person.pk).values()], PACE),
        "accuracy": accuracy,
        "by_generation": Table([*by_generation, Figures(_("all"), accuracy)], [GENERATION, *ON_GOLD]),
        "confusion": _confusion(project, person),
    }
    name = f"{project.slug}-gold-answers-{person.user.username}"
    return respond(request, "labelling_ui/member.html", listing, name, context)


@require_POST
@project_page(MANAGER)
def screen(request: HttpRequest, member: Membership, member_id: int) -> HttpResponseBase:
    """Let a person label, screen them, or keep them from labelling."""
    person = _find(member, member_id)
    outcome = request.POST.get("outcome", "")
    told = {
        "passed": _("%(name)s may label."),
        "again": _("%(name)s is screened next."),
        "failed": _("%(name)s gets no more work."),
        "paused": _("%(name)s is paused."),
    }.get(outcome, "")
    done = told % {"name": person.user.username} if told else ""
    attempt(request, done, decide, membership=person, outcome=outcome, reason=request.POST.get("reason", ""))
    return redirect("member", member.project.slug, person.pk)


@require_POST
@project_page(MANAGER)
def qualify_member(request: HttpRequest, member: Membership, member_id: int) -> HttpResponseBase:
    """Choose the domains that a person labels, or all."""
    person = _find(member, member_id)
    domains = None if request.POST.get("all") else request.POST.getlist("domains")
    told = _("%(name)s gets problems of the domains you chose.") % {"name": person.user.username}
    attempt(request, told, qualify, membership=person, domains=domains)
    return redirect("member", member.project.slug, person.pk)


@require_POST
@project_page(MANAGER)
def mark_member(request: HttpRequest, member: Membership, member_id: int) -> HttpResponseBase:
    """Say whether a member is a program."""
    person = _find(member, member_id)
    machine = {"yes": True, "no": False}.get(request.POST.get("machine", ""))
    if machine is None:
        return HttpResponseBadRequest("`machine` must be yes or no")
    texts = {True: _("%(name)s is marked as a program."), False: _("%(name)s is marked as a person.")}
    attempt(request, texts[machine] % {"name": person.user.username}, mark_machine, membership=person, machine=machine)
    return redirect("member", member.project.slug, person.pk)


def hold_against_known(answers: Iterable[Any], *, tolerance: int) -> None:
    """Give each answer the reference (`known`), and whether it is `right`."""
    for answer in answers:
        gold = answer.solution.gold_answer
        answer.known = gold.annotation
        answer.right = is_right(answer.first_error, answer.known.first_error, gold.accepted, tolerance=tolerance)


def _nth(row: Figures, *, n: int) -> Any:
    return row.found[n]


def _confusion(project: Project, person: Membership) -> Table:
    """How often they said what of steps, by what the reference says of them."""
    said = (_("they say %(name)s") % {"name": name} for name in RATING_NAMES)
    columns = [Number(label, label, partial(_nth, n=n)) for n, label in enumerate(said)]
    rows = [Figures(name, row) for name, row in zip(RATING_NAMES, confusion_of(project, person).tolist(), strict=True)]
    return Table(rows, [Column("reference", _("Reference"), "who", heading=True), *columns])


def _find(member: Membership, member_id: int) -> Membership:
    person = member.project.memberships.select_related("user", "project").filter(pk=member_id).first()
    if person is None:
        raise Http404("There is no such member in this project.")
    return person
