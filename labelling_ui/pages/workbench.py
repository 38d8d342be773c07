"""The workbench: the page around the island in `labelling_ui/frontend`."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse

from annotation.models import Membership
from annotation.work.gold.designation import practice_gold
from annotation.work.labelling.sending_back import sent_back_to
from labelling_ui.glossary import TERMS, address_of
from labelling_ui.pages.access import ANYONE, project_page


@project_page(*ANYONE, only_reads=False)
def workbench(request: HttpRequest, member: Membership, solution_id: int | None = None) -> HttpResponse:
    """The workbench with the next solution, or with the person's own label on `solution_id` to revise."""
    return _bench(request, member, revise=solution_id)


@project_page(*ANYONE, only_reads=False)
def practice(request: HttpRequest, member: Membership) -> HttpResponse:
    """The workbench with the practice set, which explains every answer."""
    return _bench(request, member, practice=True)


def _bench(
    request: HttpRequest, member: Membership, *, revise: int | None = None, practice: bool = False
) -> HttpResponse:
    project, guidelines = member.project, member.project.current_guidelines
    queue, pace, feedback = project.policies.queue, project.policies.pace, project.policies.screening.feedback
    # The shape is `Config` of frontend/src/config.ts. Guidelines go as text: the island typesets them.
    config = {
        "project": {"slug": project.slug, "name": project.name},
        "csrfToken": get_token(request),
        "apiRoot": "/api/v1",
        "guidelines": {"version": guidelines.number, "text": guidelines.text, "examples": guidelines.examples},
        "terms": {
            key: _definition(key) for key in ("first_error", "rating", "unsure", "reference", "hint", "screening")
        },
        "user": {"name": request.user.get_username()},
        "heartbeatSeconds": queue.heartbeat_seconds,
        "leaseMinutes": queue.lease_minutes,
        "pace": {
            "idleSeconds": pace.idle_seconds,
            "breakAfterMinutes": pace.break_after_minutes,
            "goal": pace.session_goal,
        },
        "prefetchDepth": queue.prefetch_depth,
        "revise": revise,
        "sentBack": _sent_back(member, revise),
        "sentBackUrl": f"{reverse('my-work', args=[project.slug])}#sent-back",
        "practice": practice,
        "labelUrl": reverse("workbench", args=[project.slug]),
        "practiceUrl": reverse("practice", args=[project.slug]) if practice_gold(project).exists() else None,
        "screeningUrl": f"{reverse('my-work', args=[project.slug])}#screening" if feedback else None,
        "labelsUrl": reverse("labels", args=[project.slug]),
        "homeUrl": reverse("project", args=[project.slug]),
        "loginUrl": _sign_in_again(request.path),
        "markUrl": static("labelling_ui/img/mark.svg"),
    }
    return render(request, "labelling_ui/workbench.html", {"project": project, "config": config})


def _definition(key: str) -> dict[str, str]:
    term = TERMS[key]
    return {"name": str(term.name), "definition": str(term.definition), "url": address_of(key)}


def _sent_back(member: Membership, solution_id: int | None) -> dict[str, Any] | None:
    """Why a reviewer sent back the open label, its place among those sent back, and the address of the next."""
    if solution_id is None or member.pk is None:
        return None
    waiting = dict(sent_back_to(member).values_list("annotation__solution", "reason"))
    if solution_id not in waiting:
        return None
    solutions = list(waiting)
    at = solutions.index(solution_id)
    following = [*solutions[at + 1 :], *solutions[:at]]
    return {
        "reason": waiting[solution_id],
        "place": at + 1,
        "of": len(solutions),
        "nextUrl": reverse("revise", args=[member.project.slug, following[0]]) if following else None,
    }


def _sign_in_again(then: str) -> str:
    """The sign-in address by way of signing out, since somebody else may have signed in since."""
    login = f"{reverse('account_login')}?{urlencode({'next': then})}"
    return f"{reverse('account_logout')}?{urlencode({'next': login})}"
