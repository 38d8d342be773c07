"""The language of an answer."""

from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

from annotation.core.membership.accounts import preference_of

API = "/api/"


class Language(LocaleMiddleware):
    """Pages speak the language of the account, else of the browser.

    The API answers in the language that a request asks for, as HTTP has it, and spends no statement on the matter:
    the workbench asks for that of its page.
    """

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        if request.path.startswith(API):
            return
        request.preference = preference_of(request.user)  # type: ignore[attr-defined]
        if chosen := request.preference.language:  # type: ignore[attr-defined]
            translation.activate(chosen)
            request.LANGUAGE_CODE = chosen
