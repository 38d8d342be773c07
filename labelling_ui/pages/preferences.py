"""What a person chooses for themselves, from the menu of any page."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from annotation.core.membership.accounts import choose_language
from labelling_ui.pages.access import attempt


@require_POST
@login_required
def language(request: HttpRequest) -> HttpResponse:
    """Back on the page that was being read, in the language chosen."""
    attempt(request, "", choose_language, language=request.POST.get("language", ""))
    back = request.POST.get("next", "")
    return redirect(back if url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}) else "home")
