"""Who may open a page: every view of a project goes through here."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.core.errors import DomainError, Forbidden, Missing
from annotation.core.membership import access
from annotation.core.membership.access import find_project, require_role, visible_projects
from annotation.core.wording import in_words
from annotation.models import ImportJob, Membership, SamplingRun

MANAGER = Membership.Role.MANAGER
ANYONE: tuple[str, ...] = ()
STAFF = access.STAFF

LONGEST = 18  # digits: any such number fits a row's id
View = Callable[..., HttpResponseBase]
ProjectView = Callable[Concatenate[HttpRequest, Membership, ...], HttpResponseBase]


def project_page(*roles: str) -> Callable[[ProjectView], View]:
    """A page of the project `slug` for members with one of `roles` (any role where none is named).

    The view gets the member who looks; the project is `membership.project`. A stranger sees 404, a
    member without the role 403 with the reason.
    """

    def decorate(view: ProjectView) -> View:
        @login_required
        @wraps(view)
        def page(request: HttpRequest, slug: str, **named: Any) -> HttpResponseBase:
            try:
                project = find_project(request.user, slug)
                membership = require_role(request.user, project, *roles)
                membership.project = project
                request.member = membership  # type: ignore[attr-defined]
                return view(request, membership, **named)
            except Forbidden as error:
                raise PermissionDenied(in_words(error.message)) from None
            except Missing as error:
                raise Http404(in_words(error.message)) from None

        return page

    return decorate


def project_action(*roles: str) -> Callable[[ProjectView], View]:
    """Like `project_page`, for what a button sends: only by POST."""
    return lambda view: require_POST(project_page(*roles)(view))


def member_of(request: HttpRequest) -> dict[str, Any]:
    """The context processor that gives every template of a project's page the `member` who looks."""
    return {"member": request.member} if hasattr(request, "member") else {}


def slug_of(request: HttpRequest, model: type[ImportJob] | type[SamplingRun], pk: int) -> str:
    """The project of an import or a sampling that this person may know of: the addresses of these carry no slug.

    Empty for a visitor, whom `project_page` sends to sign in.
    """
    known = model._default_manager.filter(pk=pk, project__in=visible_projects(request.user))
    slug = known.values_list("project__slug", flat=True).first()
    if slug is None and request.user.is_authenticated:
        raise Http404("There is no such page, or it is of a project that is not yours.")
    return slug or ""


def signed_in(request: HttpRequest) -> User:
    """The person who asks, on a page that nobody sees without signing in."""
    if not isinstance(request.user, User):
        raise PermissionDenied(_("Sign in to continue."))
    return request.user


def attempt(request: HttpRequest, done: str, service: Callable[..., Any], **named: Any) -> Any:
    """Call a service for the person who asks; tell them `done`, or what its DomainError says.

    Returns the service's result, None where it refused. Forbidden and Missing go through, to the page.
    """
    try:
        result = service(by=signed_in(request), **named)
    except (Forbidden, Missing):
        raise
    except DomainError as error:
        messages.error(request, in_words(error.message))
        return None
    if done:
        messages.success(request, done)
    return result


def posted_word(request: HttpRequest, name: str, *words: str) -> str:
    """The word that a form sent under a name. Raises BadRequest for any that is not one of `words`."""
    word: str = request.POST.get(name, "")
    if word not in words:
        raise BadRequest(f"`{name}` must be one of: {', '.join(words)}.")
    return word


def whole_number(text: str | None) -> int | None:
    """The whole number from 0 on that a text is; None where it is something else, or longer than any that is meant.

    No row has the id 0: `or 0` finds none.
    """
    return int(text) if text and text.isdecimal() and len(text) <= LONGEST else None
