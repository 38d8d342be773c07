"""A person's own settings: the language and the tokens of their programs."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.bounds import LARGEST_INTEGER
from annotation.core.errors import DomainError, Missing
from annotation.core.membership.accounts import choose_language
from annotation.core.membership.tokens import OWN_SCOPES, issue_token, limit_token, revoke_token
from annotation.core.wording import in_words
from annotation.models import ApiToken, Scope
from labelling_ui.pages.access import attempt, login_required, posts_only, show_refusal, signed_in
from labelling_ui.pages.columns import Column, Control, When
from labelling_ui.pages.listing import Table


@posts_only
@login_required
def language(request: HttpRequest) -> HttpResponse:
    """Change the language and return to the same page."""
    attempt(request, "", choose_language, language=request.POST.get("language", ""))
    back = request.POST.get("next", "")
    known = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
    return HttpResponseRedirect(back if known else reverse("home"))


def limit_field(label: Any) -> forms.IntegerField:
    return forms.IntegerField(required=False, min_value=1, max_value=LARGEST_INTEGER, label=label)


class TokenForm(forms.Form):
    name = forms.CharField(
        max_length=100, label=_("Name"), help_text=_("What the token is for, such as “sampling job”.")
    )
    scopes = forms.MultipleChoiceField(
        choices=[(scope, format_lazy("{}: {}", scope, label)) for scope, label in Scope.choices],
        initial=OWN_SCOPES,
        label=_("Scopes"),
        help_text=_("What the token may do, within your roles. Choose only what the program needs."),
        widget=forms.CheckboxSelectMultiple,
    )
    for_person = forms.BooleanField(
        required=False,
        label=_("A person uses this token to label by hand"),
        help_text=_(
            "Otherwise, labels sent with this token count as a model judge’s and are never used as gold "
            "or to measure a model."
        ),
    )


class LimitsForm(forms.Form):
    """A token's scoring limits; an empty field means no limit."""

    requests_per_minute = limit_field(_("Requests per minute"))
    requests_per_day = limit_field(_("Requests per day"))
    steps_per_minute = limit_field(_("Steps per minute"))
    steps_per_day = limit_field(_("Steps per day"))


COLUMNS = [
    Column("name", _("Name"), heading=True),
    Column("scopes", _("Scopes"), lambda token: ", ".join(token.scopes)),
    When("created", _("Created"), "created_at"),
    When("last_used", _("Last used"), "last_used_at"),
    Control("limits", _("Scoring limits"), hidden=False),
    Control("actions", _("Actions")),
]


@login_required
def tokens(request: HttpRequest) -> HttpResponseBase:
    form = TokenForm(request.POST if request.method == "POST" else None)
    secret = ""
    if request.method == "POST" and form.is_valid():
        try:
            # shown now and never again, so it is not left in a session or an address
            _token, secret = issue_token(by=signed_in(request), **form.cleaned_data)
        except DomainError as error:
            show_refusal(form, error, otherwise="name")
        else:
            form = TokenForm()
    mine = ApiToken.objects.filter(user=signed_in(request), revoked_at__isnull=True).order_by("-pk")
    for token in mine:
        token.limits = LimitsForm(  # type: ignore[attr-defined]
            initial={name: getattr(token, name) for name in ApiToken.LIMITS}, auto_id=f"id_{token.pk}_%s"
        )
    address = request.build_absolute_uri("/api/v1/projects/")
    context = {"form": form, "secret": secret, "tokens": Table(mine, COLUMNS), "address": address}
    return render(request, "labelling_ui/tokens.html", context)


@posts_only
@login_required
def revoke(request: HttpRequest, token_id: int) -> HttpResponseBase:
    try:
        attempt(request, gettext("The token is revoked."), revoke_token, token_id=token_id)
    except Missing as error:
        raise Http404(in_words(error.message)) from None
    return redirect("tokens")


@posts_only
@login_required
def limit(request: HttpRequest, token_id: int) -> HttpResponseBase:
    form = LimitsForm(request.POST)
    try:
        if form.is_valid():
            attempt(
                request,
                gettext("Limits saved. They apply from the next request."),
                limit_token,
                token_id=token_id,
                limits=form.cleaned_data,
            )
        else:
            messages.error(request, gettext("Enter a whole number of at least 1, or leave the limit empty."))
    except Missing as error:
        raise Http404(in_words(error.message)) from None
    return redirect("tokens")
