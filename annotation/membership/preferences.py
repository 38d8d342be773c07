"""What a person chose for themselves."""

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.utils.translation import gettext as _

from annotation import audit
from annotation.errors import DomainError
from annotation.models import Preference


def language_of(user: User | AnonymousUser) -> str:
    """The language this person reads pages in; empty where they leave it to their browser."""
    if not user.is_authenticated:
        return ""
    return Preference.objects.filter(user=user).values_list("language", flat=True).first() or ""


@transaction.atomic
def choose_language(*, by: User, language: str) -> Preference:
    """Let pages speak this language to `by` from now on; empty for that of their browser.

    Raises DomainError (`unknown_language`).
    """
    if language and language not in dict(settings.LANGUAGES):
        raise DomainError("unknown_language", _("Choose one of the languages of the menu."), {"field": "language"})
    preference, _created = Preference.objects.select_for_update().get_or_create(user=by)
    before, preference.language = preference.language, language
    preference.save()
    audit.record(by=by, action="account.language", target=by, before={"language": before}, after={"language": language})
    return preference
