"""Chooses the language of a response."""

from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

from annotation.core.membership.accounts import preference_of

API = "/api/"


class Language(LocaleMiddleware):
    """Pages use the language of the account, else that of the browser.

    The API uses the request's Accept-Language and loads no preferences, which saves a statement. The workbench sends
    the language of its page.
    """

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        if request.path.startswith(API):
            return
        request.preference = preference_of(request.user)  # type: ignore[attr-defined]
        if chosen := request.preference.language:  # type: ignore[attr-defined]
            translation.activate(chosen)
            request.LANGUAGE_CODE = chosen
