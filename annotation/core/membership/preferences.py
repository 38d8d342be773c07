"""What a person chose for themselves."""

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction

from annotation.core import audit
from annotation.core.errors import DomainError
from annotation.models import Preference
from prm.messages import Message


def preference_of(user: User | AnonymousUser) -> Preference:
    """The person's preferences; an unsaved default for people without any."""
    if not user.is_authenticated:
        return Preference()
    return Preference.objects.filter(user=user).first() or Preference(user=user)


@transaction.atomic
def choose_language(*, by: User, language: str) -> Preference:
    """Let pages speak this language to `by` from now on; empty for that of their browser.

    Raises DomainError (`unknown_language`).
    """
    if language and language not in dict(settings.LANGUAGES):
        raise DomainError(Message("unknown_language"), {"field": "language"})
    preference, _created = Preference.objects.select_for_update().get_or_create(user=by)
    before, preference.language = preference.language, language
    preference.save()
    audit.record(by=by, action="account.language", target=by, before={"language": before}, after={"language": language})
    return preference
