"""Accounts: invitations by managers, passwords, and people's own preferences."""

import secrets

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import transaction

from annotation.core import audit
from annotation.core.errors import DomainError
from annotation.core.membership.access import require_role
from annotation.core.membership.members import add_member
from annotation.models import Membership, Preference, Project
from prm.messages import Message

USERNAME_LENGTH = 150


@transaction.atomic
def invite(*, by: User, project: Project, username: str, role: str) -> tuple[Membership, str | None]:
    """Add the person with this user name to the project, and create an account if there is none.

    Returns the membership, and a new account's first password (None for an existing account). The password cannot be
    shown again, and the person must change it at the first login. Raises Forbidden, DomainError
    (`invalid_username`, `invalid_role`), Conflict (`already_member`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    username = User.normalize_username(username.strip())
    user, created, password = find_account(username), False, None
    if user is None:
        check_username(username)
        user, created = User.objects.get_or_create(username=username)  # another manager may invite the same person
    if created:
        password = secrets.token_urlsafe(12)
        user.set_password(password)
        user.save(update_fields=["password"])
        Preference.objects.create(user=user, first_password=True)
        audit.record(by=by, action="account.open", target=user, project=project, after={"username": username})
    return add_member(by=by, project=project, user=user, role=role), password


@transaction.atomic
def choose_password(*, by: User, password: str) -> None:
    """Set the password of `by`, who has chosen it."""
    by.set_password(password)
    by.save(update_fields=["password"])
    Preference.objects.filter(user=by).update(first_password=False)
    audit.record(by=by, action="account.password", target=by)


def find_account(username: str) -> User | None:
    """The account with this user name, or else one whose name differs only in case: signing in ignores case."""
    same = list(User.objects.filter(username__iexact=username).order_by("pk"))
    return next((user for user in same if user.username == username), same[0] if same else None)


def check_username(username: str) -> None:
    """Refuse a name that no account can have, with DomainError (`invalid_username`)."""
    try:
        UnicodeUsernameValidator()(username)
        MaxLengthValidator(USERNAME_LENGTH)(username)
    except ValidationError:
        reason = Message("invalid_username", username=username, username_length=USERNAME_LENGTH)
        raise DomainError(reason, {"field": "username"}) from None


def preference_of(user: User | AnonymousUser) -> Preference:
    """The user's preferences; an unsaved default if there are none."""
    if not user.is_authenticated:
        return Preference()
    preference: Preference | None = getattr(user, "preference", None)
    return preference or Preference(user=user)


@transaction.atomic
def choose_language(*, by: User, language: str) -> Preference:
    """Set the language of the pages for `by`; empty for the language of the browser.

    Raises DomainError (`unknown_language`).
    """
    if language and language not in dict(settings.LANGUAGES):
        raise DomainError(Message("unknown_language"), {"field": "language"})
    preference, _created = Preference.objects.select_for_update().get_or_create(user=by)
    before, preference.language = preference.language, language
    preference.save()
    audit.record(by=by, action="account.language", target=by, before={"language": before}, after={"language": language})
    return preference
