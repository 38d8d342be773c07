"""Access to pages: every view of a project is declared here."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from typing import Any, Concatenate
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import Resolver404, resolve
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from annotation.core.bounds import refuse_unstorable
from annotation.core.errors import DomainError, Forbidden, Missing
from annotation.core.membership import access
from annotation.core.membership.access import find_project, require_role, visible_projects
from annotation.core.replica import read_recent
from annotation.core.wording import in_words
from annotation.models import ImportJob, Membership, SamplingRun
from labelling_ui.cached_figures import NotComputed, respond_without_figures
from labelling_ui.own_writes import may_be_recent

MANAGER = Membership.Role.MANAGER
ANYONE: tuple[str, ...] = ()
STAFF = access.STAFF

LONGEST = 18  # digits: any such number fits a row's id
View = Callable[..., HttpResponseBase]
ProjectView = Callable[Concatenate[HttpRequest, Membership, ...], HttpResponseBase]


def login_required(view: View) -> View:
    """Send a visitor to the sign-in page, and from there back to the page that was open.

    That page is not the address of the request if a form or a part of a page was sent: neither answers a plain GET.
    """

    @wraps(view)
    def page(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, *args, **named)
        if request.method == "POST":
            messages.warning(request, _("You were signed out, so nothing was changed. Sign in and try again."))
        in_part = bool(request.htmx)  # type: ignore[attr-defined]
        is_page = request.method != "POST" and not in_part
        sign_in = redirect_to_login(request.get_full_path() if is_page else _open_page(request))
        return HttpResponseClientRedirect(sign_in.url) if in_part else sign_in

    return page


def _open_page(request: HttpRequest) -> str:
    """The page that sent a request, or the first page if another site did."""
    address = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(address, allowed_hosts={request.get_host()}):
        return "/"
    return urlsplit(address)._replace(scheme="", netloc="").geturl()


def posts_only(view: View) -> View:
    """The target of a form. Its address, opened by itself, shows a page that leads to the page above it."""

    @wraps(view)
    def page(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        if request.method == "POST":
            return view(request, *args, **named)
        refused = render(request, "405.html", {"above": _page_above(request.path)}, status=405)
        refused["Allow"] = "POST"
        return refused

    return page


def _page_above(path: str) -> str:
    while path != "/":
        path = path.rstrip("/").rpartition("/")[0] + "/"
        with suppress(Resolver404):
            resolve(path)
            break
    return path


def project_page(*roles: str, only_reads: bool = True) -> Callable[[ProjectView], View]:
    """A page of the project `slug` for members with one of `roles` (any role where none is named).

    The view gets the membership of the person who asks, and the project as `membership.project`. Others see 404, a
    member without the role 403 with the reason. If a GET `only_reads`, its view may read from the replica.
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
                respond = partial(view, request, membership, **named)
                return read_recent(respond) if only_reads and may_be_recent(request) else respond()
            except NotComputed:
                return respond_without_figures(request)
            except Forbidden as error:
                raise PermissionDenied(in_words(error.message)) from None
            except Missing as error:
                raise Http404(in_words(error.message)) from None

        return page

    return decorate


def project_action(*roles: str) -> Callable[[ProjectView], View]:
    """Like `project_page`, for the target of a form: POST only."""
    return lambda view: posts_only(project_page(*roles)(view))


def member_of(request: HttpRequest) -> dict[str, Any]:
    """The context processor that adds `member`, who opened the page, to the templates of a project.

    `cached_figures` are those of the page, if it has any.
    """
    return {name: getattr(request, name) for name in ("member", "cached_figures") if hasattr(request, name)}


def without_slug(model: type[ImportJob] | type[SamplingRun]) -> Callable[[View], View]:
    """A project page whose address has only the id of an import or a sampling. Non-members get 404.

    For a visitor the slug is empty; `project_page` then redirects to the sign-in page.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def page(request: HttpRequest, job_id: int) -> HttpResponseBase:
            known = model._default_manager.filter(pk=job_id, project__in=visible_projects(request.user))
            slug = known.values_list("project__slug", flat=True).first()
            if slug is None and request.user.is_authenticated:
                raise Http404("There is no such page, or it is of a project that is not yours.")
            return view(request, slug=slug or "", job_id=job_id)

        return page

    return decorate


def signed_in(request: HttpRequest) -> User:
    """The signed-in user, on a page that requires signing in."""
    if not isinstance(request.user, User):
        raise PermissionDenied(_("Sign in to continue."))
    return request.user


def attempt(request: HttpRequest, done: str, service: Callable[..., Any], **named: Any) -> Any:
    """Call a service as the signed-in user, and show `done` or the message of its DomainError.

    Returns the service's result, or None after a DomainError. Forbidden and Missing are not caught.
    """
    try:
        check_posted(request)
        result = service(by=signed_in(request), **named)
    except (Forbidden, Missing):
        raise
    except DomainError as error:
        messages.error(request, in_words(error.message))
        return None
    if done:
        messages.success(request, done)
    return result


def show_refusal(form: Form, error: DomainError, *, otherwise: str | None = None, **named: str) -> None:
    """Show why a service rejected a form, at the field that the error names; `named` maps its names to the form's.

    An error about none of the fields is shown at `otherwise`. Raises Forbidden and Missing, which no field can correct.
    """
    if isinstance(error, (Forbidden, Missing)):
        raise error
    field = error.extra.get("field", "")
    field = named.get(field, field)
    form.add_error(field if field in form.fields else otherwise, in_words(error.message))


def check_posted(request: HttpRequest) -> None:
    """Raise DomainError (`invalid`) for a NUL in the form: only Django's own fields refuse one themselves."""
    refuse_unstorable({name: "".join(values) for name, values in request.POST.lists()})


def posted_word(request: HttpRequest, name: str, *words: str) -> str:
    """The value that a form sent under a name. Raises BadRequest if it is not one of `words`."""
    word: str = request.POST.get(name, "")
    if word not in words:
        raise BadRequest(f"`{name}` must be one of: {', '.join(words)}.")
    return word


def whole_number(text: str | None) -> int | None:
    """The text as a whole number from 0; None if it is not one or is too long for a row's id.

    No row has the id 0, so `or 0` finds none.
    """
    return int(text) if text and text.isdecimal() and len(text) <= LONGEST else None
