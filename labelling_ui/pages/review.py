"""Review: what waits for a reviewer, and a solution with everybody's ratings side by side to decide on."""

import uuid
from typing import Any

from django.contrib import messages
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.labelling.adjudication import accept, adjudicate
from annotation.labelling.sending_back import send_back, take_back
from annotation.labelling.verdicts import UNSURE, verdict
from annotation.models import HIDDEN_LANES, Annotation, Dispute, Membership, Project, SentBack, Solution
from annotation.quality.review_case import Case, case_of
from annotation.quality.review_queue import REASONS, next_to_review, review_counts, to_review
from annotation.quality.statistics import latest_annotations
from labelling_ui.pages.access import STAFF, attempt, project_page
from labelling_ui.pages.listing import Column, Listing, respond

LETTERS = "ABCD"
KINDS = [
    ("", gettext_lazy("Everything")),
    ("disagreement", gettext_lazy("Disagreements")),
    ("dispute", gettext_lazy("Disputed references")),
    ("doubt", gettext_lazy("Steps in doubt")),
]
WORDS: dict[str, int | str] = {"1": 1, "0": 0, "-1": -1, UNSURE: UNSURE}


COLUMNS = [
    Column("why", gettext_lazy("Why"), lambda s: " ".join(_reasons(s)), sort="urgency"),
    Column("problem", gettext_lazy("Problem"), lambda s: s.problem.text),
    Column("domain", gettext_lazy("Domain"), lambda s: s.problem.domain, sort="problem__domain"),
    Column("labels", gettext_lazy("First error, by each"), lambda s: " ".join(map(_told, s.words))),
    Column("solution", gettext_lazy("Solution"), lambda s: s.pk, sort="pk", number=True),
]


@project_page(*STAFF)
def review(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    words = latest_annotations(project).exclude(lane__in=HIDDEN_LANES).select_related("annotator__user").order_by("pk")
    reason = _reason(request)
    rows = to_review(project, reason).select_related("problem")
    listing = Listing(request, rows.prefetch_related(Prefetch("annotations", words, "words")), COLUMNS, sort="why")
    counts = review_counts(project)
    context = {
        "member": member,
        "reason": reason,
        "kinds": [(key, label, counts[key or "all"]) for key, label in KINDS],
        "sent_back": _sent_back(project),
        "first": listing.page.object_list[0] if listing.page.object_list else None,
    }
    return respond(request, "labelling_ui/review.html", listing, f"{project.slug}-review", context)


@project_page(*STAFF)
def case(request: HttpRequest, member: Membership, solution_id: int) -> HttpResponse:
    solution = _find(member.project, solution_id)
    found = case_of(solution)
    reason = _reason(request)
    columns = _columns(found)
    context = {
        "member": member,
        "tab": "review",
        "case": found,
        "solution": solution,
        "columns": columns,
        "rows": _numbered(found, columns),
        "disputes": Dispute.objects.filter(annotation__solution=solution, state=Dispute.State.OPEN).select_related(
            "annotation__annotator__user"
        ),
        "submission_id": uuid.uuid4(),
        "reason": reason,
        "next": next_to_review(member.project, after=solution_id, reason=reason),
        "scheme": member.project.label_scheme,
    }
    return render(request, "labelling_ui/review_case.html", context)


@require_POST
@project_page(*STAFF)
def decide(request: HttpRequest, member: Membership, solution_id: int) -> HttpResponseBase:
    """As one of the labels says (`accepts`), or by ratings of the reviewer's own (`word-…`)."""
    project, solution = member.project, _find(member.project, solution_id)
    following = next_to_review(project, after=solution_id, reason=_reason(request))
    posted = request.POST
    seen, comment = _number(posted.get("seen")), posted.get("comment", "")
    submission_id = _uuid(posted.get("submission_id"))
    if "accepts" in posted:
        label = _label(project, _number(posted.get("accepts")))
        made = attempt(request, "", accept, annotation=label, submission_id=submission_id, seen=seen, comment=comment)
    else:
        path = [step.pk for step in case_of(solution).path]
        words = {step: WORDS[word] for step in path if (word := posted.get(f"word-{step}")) in WORDS}
        stops = project.label_scheme.stop_at_first_error
        own = verdict(solution_id, path, words, stops=stops, submission_id=submission_id, comment=comment)
        made = attempt(request, "", adjudicate, project=project, submission=own, seen=seen)
    if made is None:
        return redirect(_address(request, project, solution_id))
    _tell_decided(request, project, made.annotation)
    return redirect(_address(request, project, following))


@require_POST
@project_page(*STAFF)
def send(request: HttpRequest, member: Membership, label_id: int) -> HttpResponseBase:
    label = _label(member.project, label_id)
    following = next_to_review(member.project, after=label.solution_id, reason=_reason(request))
    sent = attempt(
        request,
        _("Sent back: it comes here again once they have looked at it."),
        send_back,
        annotation=label,
        reason=request.POST.get("why", ""),
    )
    return redirect(_address(request, member.project, following if sent else label.solution_id))


@require_POST
@project_page(*STAFF)
def withdraw(request: HttpRequest, member: Membership, sent_id: int) -> HttpResponseBase:
    sent = member.project.sent_back.filter(pk=sent_id).first()
    if sent is None:
        raise Http404("There is no such request in this project.")
    attempt(request, _("The label stands as it is."), take_back, sent=sent)
    return redirect("review", member.project.slug)


def _columns(found: Case) -> list[dict[str, Any]]:
    """The labels by a letter each: who gave them is told where the reviewer asks, since it should not matter."""
    return [
        {
            "letter": "" if label.adjudicates else LETTERS[n : n + 1],
            "name": _("Decision") if label.adjudicates else LETTERS[n : n + 1] or str(n + 1),
            "label": label,
            "may_return": not label.adjudicates and _may_be_sent_back(label),
        }
        for n, label in enumerate(found.labels)
    ]


def _numbered(found: Case, columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with what a page says of each; `before` marks those that all agree on before the first difference."""
    first = found.first_difference
    return [
        {
            "row": row,
            "words": list(zip(columns, row.words, strict=True)),
            "before": first is not None and n < first,
            "agreed": "" if row.agreed is None else UNSURE if row.agreed[0] == UNSURE else str(row.agreed[1]),
        }
        for n, row in enumerate(found.rows)
    ]


def _tell_decided(request: HttpRequest, project: Project, decided: Annotation) -> None:
    place = decided.first_error
    said = (
        _("no first error")
        if place is None
        else _("no error")
        if place < 0
        else _("first error at step %(n)s") % {"n": place + 1}
    )
    told = _("Solution %(n)s is decided: %(said)s.") % {"n": decided.solution_id, "said": said}
    address = _address(request, project, decided.solution_id)
    messages.success(request, format_html('{} <a href="{}" data-key="z">{}</a>', told, address, _("Decide anew")))


def _sent_back(project: Project) -> QuerySet[SentBack]:
    waiting = project.sent_back.filter(state=SentBack.State.OPEN)
    return waiting.select_related("annotation__annotator__user", "annotation__solution__problem", "by").order_by("pk")


def _may_be_sent_back(label: Annotation) -> bool:
    giver = label.annotator
    return giver is not None and label.lease_id is not None and giver.active and not giver.simulated


def _reasons(solution: Any) -> list[str]:
    told = [("disagreement", solution.differs), ("dispute", solution.disputed), ("doubt", solution.doubted)]
    return [name for name, holds in told if holds]


def _told(label: Annotation) -> str:
    who = label.annotator.user.username if label.annotator else label.source.name
    return f"{who}:{'' if label.first_error is None else label.first_error}"


def _reason(request: HttpRequest) -> str:
    """Which reason the reviewer goes through, as the address says; empty for all."""
    reason = request.GET.get("reason", "")
    return reason if reason in REASONS else ""


def _address(request: HttpRequest, project: Project, solution_id: int | None) -> str:
    """The page of a case, or of the queue where there is none, with the reason that the reviewer goes through."""
    reason = _reason(request)
    query = f"?{urlencode({'reason': reason})}" if reason else ""
    if solution_id is None:
        return reverse("review", args=[project.slug]) + query
    return reverse("review-case", args=[project.slug, solution_id]) + query


def _find(project: Project, solution_id: int) -> Solution:
    found = project.solutions.select_related("problem").filter(pk=solution_id).first()
    if found is None:
        raise Http404("There is no such solution in this project.")
    return found


def _label(project: Project, label_id: int) -> Annotation:
    found = project.annotations.select_related("project", "source", "annotator").filter(pk=label_id).first()
    if found is None:
        raise Http404("There is no such label in this project.")
    return found


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 19 else 0


def _uuid(text: str | None) -> uuid.UUID:
    """The id that the page was made with, so that a form that is sent twice decides once."""
    try:
        return uuid.UUID(text or "")
    except ValueError:
        return uuid.uuid4()
