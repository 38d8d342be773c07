"""Review: the cases that wait, and the page of one with everybody's ratings side by side."""

import json
import uuid
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.errors import Conflict, DomainError
from annotation.labels.consensus.fits import consensus_on
from annotation.labels.consensus.review_case import Case, CaseRow, Word, case_of
from annotation.labels.consensus.review_queue import (
    next_to_review,
    review_counts,
    to_review,
    waiting_solutions,
)
from annotation.models import HIDDEN_LANES, Annotation, Dispute, Membership, Project, SentBack, Solution
from annotation.work.annotations import current_annotations
from annotation.work.labelling.adjudication import accept, adjudicate
from annotation.work.labelling.sending_back import send_back, take_back
from annotation.work.labelling.submission import Submitted
from labelling_ui.pages.access import STAFF, attempt, project_action, project_page, whole_number
from labelling_ui.pages.columns import Column, Control, Number, Opening, When
from labelling_ui.pages.listing import Filters, Listing, Table, respond
from labelling_ui.pages.review_form import own_verdict
from labelling_ui.pages.review_keys import CaseKeys, keys_of
from labelling_ui.templatetags.answers import ANSWERS_TO_A_CRITIQUE, PROGRESS, answers_of
from prm.messages import Message

KINDS = [
    ("", _("Everything")),
    ("disagreement", _("Disagreements")),
    ("dispute", _("Disputed references")),
    ("doubt", _("Unsure or flagged steps")),
]


class ReviewFilters(Filters):
    reason = forms.ChoiceField(choices=KINDS, label=_("Reason"))


def _reasons(solution: Any) -> list[str]:
    reasons = [("disagreement", solution.differs), ("dispute", solution.disputed), ("doubt", solution.doubted)]
    return [name for name, holds in reasons if holds]


def _first_errors(solution: Any) -> str:
    """Those of the labels, without names, which could influence the reviewer."""
    return " ".join("unknown" if label.first_error is None else str(label.first_error) for label in solution.words)


COLUMNS = [
    Column("why", _("Reason"), lambda s: " ".join(_reasons(s)), sort="urgency"),
    Opening("problem", _("Problem"), "problem__text"),
    Column("domain", _("Domain"), "problem__domain", sort=True),
    Column("labels", _("First errors"), _first_errors, term="first_error"),
    Number("solution", _("Solution"), "pk", sort=True, link="solution", write=str),
]
SENT_BACK = [
    Opening("problem", _("Problem"), "annotation__solution__problem__text"),
    Column("to", _("To"), "annotation__annotator__user__username"),
    Column("why", _("Reason"), "reason"),
    When("since", _("Since"), "created_at"),
    Control("take_back", _("Take back")),
]


@project_page(*STAFF)
def review(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    words = current_annotations(project).exclude(annotator=None).exclude(lane__in=HIDDEN_LANES).order_by("pk")
    reason = _reason(request)
    waiting = waiting_solutions(project)
    rows = to_review(project, reason, waiting=waiting).select_related("problem")
    rows = rows.prefetch_related(Prefetch("annotations", words, "words"))
    listing = Listing(request, rows, COLUMNS, sort="why", known=waiting.in_order(reason))
    counts = review_counts(project, waiting)
    context = {
        "reason": reason,
        "filters": ReviewFilters(request.GET),
        "kinds": [(key, label, counts[key or "all"]) for key, label in KINDS],
        "sent_back": Table(_sent_back(project), SENT_BACK),
        "first": listing.page.object_list[0] if listing.page.object_list else None,
    }
    return respond(request, "labelling_ui/review.html", listing, "review", context)


@project_page(*STAFF)
def case(request: HttpRequest, member: Membership, solution_id: int) -> HttpResponse:
    solution = _find(member.project, solution_id)
    case = case_of(solution)
    reason = _reason(request)
    scheme = member.project.label_scheme
    keys = keys_of(scheme)
    columns = _columns(case, keys)
    rows = _numbered(case, columns, rates_critiques=scheme.critique == "given")
    fit, posteriors = consensus_on(solution)
    for line in rows:
        line["posterior"] = posteriors.get((line["row"].step.position, line["row"].step.alternative))
    context = {
        "case": case,
        "solution": solution,
        "columns": columns,
        "rows": rows,
        "fit": fit,
        "folded": _folded(rows),
        "disputes": Dispute.objects.filter(annotation__solution=solution, state=Dispute.State.OPEN).select_related(
            "annotation__annotator__user"
        ),
        "submission_id": uuid.uuid4(),
        "reason": reason,
        "next": next_to_review(member.project, after=solution_id, reason=reason),
        "scheme": scheme,
        "keys": keys,
        "actions": json.dumps(keys.actions),
        "progress": list(enumerate(PROGRESS)),
        "answers_to_a_critique": ANSWERS_TO_A_CRITIQUE,
        "ratings": [(keys.of[answer.kind], answer) for answer in answers_of(scheme).offered],
    }
    return render(request, "labelling_ui/review_case.html", context)


@project_action(*STAFF)
def decide(request: HttpRequest, member: Membership, solution_id: int) -> HttpResponseBase:
    """Decide by accepting a label (`accepts`), or by the reviewer's own ratings (`word-…`)."""
    project, solution = member.project, _find(member.project, solution_id)
    following = next_to_review(project, after=solution_id, reason=_reason(request))
    posted = request.POST
    seen, submission_id = whole_number(posted.get("seen")) or 0, _uuid(posted.get("submission_id"))
    if "accepts" in posted:
        label = _label(project, whole_number(posted.get("accepts")) or 0)
        fields: dict[str, Any] = {"submission_id": submission_id, "seen": seen, "comment": posted.get("comment", "")}
        made = attempt(request, "", partial(_once, accept), annotation=label, **fields)
    else:
        fields = {"posted": posted, "solution": solution, "submission_id": submission_id, "seen": seen}
        made = attempt(request, "", partial(_once, _adjudicate), **fields)
    if made is None:
        return redirect(_address(request, project, solution_id))
    _announce(request, project, made.annotation)
    return redirect(_address(request, project, following))


def _once(service: Callable[..., Submitted], **named: Any) -> Submitted:
    """Store the decision of a page. Raises as `service`, and DomainError (`page_decided`) if its page decided before.

    A browser that goes back shows the page as it was.
    """
    try:
        return service(**named)
    except Conflict as conflict:
        if conflict.code != "submission_conflict":
            raise
        raise DomainError(Message("page_decided")) from conflict


def _adjudicate(*, by: User, posted: QueryDict, solution: Solution, submission_id: uuid.UUID, seen: int) -> Submitted:
    """Store the decision. Raises as `own_verdict` and `adjudicate`."""
    own = own_verdict(posted, case_of(solution), submission_id)
    return adjudicate(by=by, project=solution.project, submission=own, seen=seen)


@project_action(*STAFF)
def send(request: HttpRequest, member: Membership, label_id: int) -> HttpResponseBase:
    label = _label(member.project, label_id)
    following = next_to_review(member.project, after=label.solution_id, reason=_reason(request))
    sent = attempt(
        request,
        gettext("Sent back. The solution returns here after the annotator’s answer."),
        send_back,
        annotation=label,
        reason=request.POST.get("why", ""),
    )
    return redirect(_address(request, member.project, following if sent else label.solution_id))


@project_action(*STAFF)
def withdraw(request: HttpRequest, member: Membership, sent_id: int) -> HttpResponseBase:
    sent = get_object_or_404(member.project.sent_back, pk=sent_id)
    attempt(request, gettext("The request is withdrawn. The label is unchanged."), take_back, sent=sent)
    return redirect("review", member.project.slug)


def _columns(case: Case, keys: CaseKeys) -> list[dict[str, Any]]:
    """The labels, each under a letter. Names are shown on request only, since they should not matter."""
    letters = dict(enumerate(keys.letters))
    columns = []
    for n, label in enumerate(case.labels):
        key = "" if label.adjudicates else letters.get(n, "")
        name = gettext("Decision") if label.adjudicates else key.upper() or str(n + 1)
        may_return = not label.adjudicates and _may_be_sent_back(label)
        columns.append({"key": key, "name": name, "label": label, "may_return": may_return})
    return columns


def _numbered(case: Case, columns: list[dict[str, Any]], *, rates_critiques: bool) -> list[dict[str, Any]]:
    """The rows as the page shows them; `before` marks agreed steps before the first difference."""
    first = case.first_difference
    return [
        {
            "row": row,
            "words": list(zip(columns, row.words, strict=True)),
            "before": first is not None and n < first,
            "agreed": _value(row.agreed),
            "critiques": _critiques(row) if rates_critiques and row.on_path else [],
        }
        for n, row in enumerate(case.rows)
    ]


def _folded(rows: list[dict[str, Any]]) -> dict[str, int]:
    """The number of steps before the first difference, and how many of them are tool outputs."""
    steps = {row["row"].step.position: row["row"].step.kind for row in rows if row["before"]}
    return {"steps": len(steps), "outputs": list(steps.values()).count("observation")}


def _critiques(row: CaseRow) -> list[tuple[str, str]]:
    """The critiques of a step and the decision's rating of each, as form values; empty if not rated."""
    rated = row.decided.dimensions.get("critique_ratings", []) if row.decided else []
    texts = [critique.text for critique in row.step.critiques.all()]
    return list(zip_longest(texts, map(str, rated[: len(texts)]), fillvalue=""))


def _value(word: Word | None) -> str:
    """The rating as the value of a radio button; empty for none."""
    return "" if word is None else word[0] if word[1] is None else str(word[1])


def _announce(request: HttpRequest, project: Project, decided: Annotation) -> None:
    place = decided.first_error
    outcome = (
        gettext("no first error")
        if place is None
        else gettext("no error")
        if place < 0
        else gettext("first error at step %(n)s") % {"n": place + 1}
    )
    message = gettext("Solution %(n)s is decided: %(said)s.") % {"n": decided.solution_id, "said": outcome}
    address = _address(request, project, decided.solution_id)
    back = '{} <a href="{}" data-key="{}">{}</a>'
    key = keys_of(project.label_scheme).of["undo"]
    messages.success(request, format_html(back, message, address, key, gettext("Change the decision")))


def _sent_back(project: Project) -> QuerySet[SentBack]:
    waiting = project.sent_back.filter(state=SentBack.State.OPEN)
    return waiting.select_related("annotation__annotator__user", "annotation__solution__problem", "by").order_by("pk")


def _may_be_sent_back(label: Annotation) -> bool:
    giver = label.annotator
    return giver is not None and label.lease_id is not None and giver.active and giver.kind != Membership.Kind.SIMULATED


def _reason(request: HttpRequest) -> str:
    """The reason that filters the queue, from the address; empty for all."""
    return str(ReviewFilters(request.GET).chosen().get("reason", ""))


def _address(request: HttpRequest, project: Project, solution_id: int | None) -> str:
    """The address of a case, or of the queue without one, with the reason that filters it."""
    reason = _reason(request)
    query = f"?{urlencode({'reason': reason})}" if reason else ""
    if solution_id is None:
        return reverse("review", args=[project.slug]) + query
    return reverse("review-case", args=[project.slug, solution_id]) + query


def _find(project: Project, solution_id: int) -> Solution:
    return get_object_or_404(project.solutions.select_related("problem"), pk=solution_id)


def _label(project: Project, label_id: int) -> Annotation:
    return get_object_or_404(project.annotations.select_related("project", "source", "annotator"), pk=label_id)


def _uuid(text: str | None) -> uuid.UUID:
    """The id that the page was rendered with, so that a form that is sent twice decides once."""
    try:
        return uuid.UUID(text or "")
    except ValueError:
        return uuid.uuid4()
