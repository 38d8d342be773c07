"""The pages on which managers add a machine annotator, change it, and issue its tokens."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from msgspec.structs import asdict

from annotation.core.errors import DomainError
from annotation.core.membership.accounts import USERNAME_LENGTH
from annotation.core.membership.machines import (
    MachineSetup,
    add_machine,
    change_machine,
    find_machine,
    setup_of,
)
from annotation.core.membership.tokens import issue_machine_token, revoke_token
from annotation.models import ApiToken, MachineAnnotator, Membership
from labelling_ui.pages.access import MANAGER, attempt, project_action, project_page, show_refusal, signed_in
from labelling_ui.pages.columns import Column, Control, When
from labelling_ui.pages.listing import Table
from labelling_ui.pages.struct_fields import struct_field

TOKENS = [
    Column("name", _("Name"), heading=True),
    When("created", _("Created"), "created_at"),
    When("last_used", _("Last used"), "last_used_at"),
    Control("actions", _("Actions")),
]


class SetupForm(forms.Form):
    model_name = struct_field(MachineSetup, "model_name", label=_("Model"))
    prompt_version = struct_field(
        MachineSetup,
        "prompt_version",
        label=_("Prompt version"),
        help_text=_("Labels of another model or prompt version are another source and are never pooled silently."),
    )
    family = struct_field(
        MachineSetup,
        "family",
        label=_("Model family"),
        help_text=_(
            "Machines of one family tend to make the same errors. Empty for the first word of the model’s name."
        ),
    )
    cost_per_label = struct_field(
        MachineSetup,
        "cost_per_label",
        label=_("Cost per label"),
        help_text=_("In the project’s currency. Empty if you do not know it."),
    )

    def setup(self) -> MachineSetup:
        return MachineSetup(**{name: self.cleaned_data[name] for name in SetupForm.base_fields})


class NewMachineForm(SetupForm):
    name = forms.CharField(
        max_length=USERNAME_LENGTH,
        label=_("Name"),
        help_text=_("Also the name of its account, which cannot sign in."),
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none"}),
    )
    field_order = ("name",)


class MachineTokenForm(forms.Form):
    token_name = forms.CharField(max_length=100, label=_("Name of the token"))


@project_page(MANAGER)
def add(request: HttpRequest, member: Membership) -> HttpResponseBase:
    form = NewMachineForm(request.POST if request.method == "POST" else None, initial={"prompt_version": "1"})
    if request.method == "POST" and form.is_valid():
        name, by = form.cleaned_data["name"], signed_in(request)
        try:
            made = add_machine(by=by, project=member.project, name=name, setup=form.setup())
        except DomainError as error:
            show_refusal(form, error, otherwise="name", username="name")
        else:
            done = gettext("%(name)s is now a machine annotator. Create a token for its program.")
            messages.success(request, done % {"name": made.membership.name})
            return redirect("machine", member.project.slug, made.membership_id)
    return render(request, "labelling_ui/machine_add.html", {"form": form})


@project_page(MANAGER)
def machine(request: HttpRequest, member: Membership, member_id: int) -> HttpResponseBase:
    """Change what labels as this machine annotator."""
    found = _find(request, member, member_id)
    form = SetupForm(request.POST if request.method == "POST" else None, initial=asdict(setup_of(found)))
    if request.method == "POST" and form.is_valid():
        attempt(request, gettext("Saved."), change_machine, machine=found, setup=form.setup())
        return redirect("machine", member.project.slug, member_id)
    return _show(request, found, form, MachineTokenForm())


@project_action(MANAGER)
def issue(request: HttpRequest, member: Membership, member_id: int) -> HttpResponseBase:
    """Issue a token, which this response alone shows."""
    found = _find(request, member, member_id)
    form, secret = MachineTokenForm(request.POST), ""
    if form.is_valid():
        made = attempt(request, "", issue_machine_token, machine=found, name=form.cleaned_data["token_name"])
        if made:
            secret, form = made[1], MachineTokenForm()
    return _show(request, found, SetupForm(initial=asdict(setup_of(found))), form, secret)


@project_action(MANAGER)
def revoke(request: HttpRequest, member: Membership, member_id: int, token_id: int) -> HttpResponseBase:
    found = _find(request, member, member_id)
    if not ApiToken.objects.filter(pk=token_id, user=found.membership.user).exists():
        raise Http404("There is no such token.")
    attempt(request, gettext("The token is revoked."), revoke_token, token_id=token_id)
    return redirect("machine", member.project.slug, member_id)


def _find(request: HttpRequest, member: Membership, member_id: int) -> MachineAnnotator:
    return find_machine(by=signed_in(request), slug=member.project.slug, member_id=member_id)


def _show(
    request: HttpRequest, found: MachineAnnotator, form: SetupForm, token_form: MachineTokenForm, secret: str = ""
) -> HttpResponseBase:
    tokens = ApiToken.objects.filter(user=found.membership.user, revoked_at__isnull=True).order_by("-pk")
    context: dict[str, Any] = {
        "machine": found,
        "person": found.membership,
        "form": form,
        "token_form": token_form,
        "tokens": Table(tokens, TOKENS),
        "secret": secret,
        "address": request.build_absolute_uri("/api/v1/"),
    }
    return render(request, "labelling_ui/machine.html", context)
