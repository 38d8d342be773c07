"""How people get accounts and passwords: a manager adds them, and they choose their own password first."""

from collections.abc import Callable
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.core.membership.accounts import choose_password
from annotation.core.membership.client_address import client_address
from annotation.core.statements import columns, fetch_one, instances
from annotation.models import Preference

OPEN = ("/accounts/", "/language/")
CAME_FOR = "came_for"  # in the session, until the person has chosen a password
SIGNED_IN = f"""
SELECT {columns(User)}, {columns(Preference)}
FROM auth_user LEFT JOIN annotation_preference ON annotation_preference.user_id = auth_user.id
WHERE auth_user.id = %(user)s
"""


def without_mail(request: HttpRequest) -> HttpResponse:
    """The page that replaces allauth's pages that send e-mail. It is the same for everybody."""
    return render(request, "account/password_reset.html")


class ClosedSignup(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """Sign in only; nobody signs up by themselves."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": _("The user name or the password is wrong."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Never."""
        return False

    def set_password(self, user: User, password: str) -> None:
        choose_password(by=user, password=password)

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """The page that a new person came for, else their projects."""
        address: str = request.session.pop(CAME_FOR, reverse("home"))
        return address


class Accounts(AuthenticationBackend):  # type: ignore[misc]
    """Signs people in, and loads them together with their preferences, which every page and route asks for."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> AbstractBaseUser | None:
        """The user with this name, in its case or else in any: allauth alone signs in neither of "ann" and "Ann"."""
        exact = ModelBackend.authenticate(self, request, **credentials)
        return exact or super().authenticate(request, **credentials)

    def get_user(self, user_id: int) -> User | None:
        """The user, if they exist and are active."""
        row = fetch_one(SIGNED_IN, {"user": user_id})
        if row is None:
            return None
        user: User
        user, preference = instances(row, User, Preference)
        user._state.fields_cache["preference"] = preference if preference.pk else None
        return user if self.user_can_authenticate(user) else None


class OwnPassword:
    """Redirects people to the password page until they have replaced the password that a manager set."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        preference = getattr(request, "preference", None)  # the API does not load it
        if preference is not None and preference.first_password and not request.path.startswith(OPEN):
            if request.method == "GET":
                request.session[CAME_FOR] = request.get_full_path()
            return redirect("account_change_password")
        return self.get_response(request)
