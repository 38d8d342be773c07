"""The webhooks of a project: register one, change it, and read the log of its deliveries."""

from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.errors import DomainError
from annotation.core.webhooks import registration
from annotation.core.webhooks.addresses import LONGEST_URL
from annotation.core.webhooks.events import EVENTS, TEST
from annotation.core.wording import in_words
from annotation.models import Membership, Webhook, WebhookDelivery
from labelling_ui.pages.access import MANAGER, attempt, project_action, project_page, show_refusal, signed_in
from labelling_ui.pages.columns import Choice, Column, Number, State, When
from labelling_ui.pages.listing import Filters, Listing, Table, respond
from labelling_ui.pages.settings.views import PAGES
from labelling_ui.templatetags.figures import code

NAMES = {**EVENTS, TEST: _("Test")}


class WebhookForm(forms.Form):
    """The address and the events. The domain validates the address."""

    url = forms.CharField(
        max_length=LONGEST_URL,
        label=_("Address"),
        help_text=_("Where your program receives the events, such as https://example.org/hook."),
        widget=forms.URLInput({"autocomplete": "off"}),
    )
    events = forms.MultipleChoiceField(
        choices=list(EVENTS.items()),
        widget=forms.CheckboxSelectMultiple,
        label=_("Events"),
        error_messages={"required": _("Choose at least one event.")},
    )


COLUMNS = [
    Column("url", _("Address"), heading=True, write=code),
    State("state", _("State"), choices=Webhook.State.choices),
    When("failing_since", _("Failing since")),
    Column("events", _("Events"), lambda row: ", ".join(str(NAMES[event]) for event in row.events), look="gate-text"),
]
DELIVERIES = [
    Choice("event", _("Event"), heading=True, choices=list(NAMES.items()), filtered=True),
    State("state", _("State"), choices=WebhookDelivery.State.choices, filtered=True),
    Number("attempts", _("Attempts"), sort=True),
    Number("status", _("Response status"), write=str),
    Column("response", _("Response"), lambda row: in_words(row.error) or row.response, look="gate-text"),
    When("created", _("Created"), "created_at", sort=True),
]


@project_page(MANAGER)
def webhooks(request: HttpRequest, member: Membership) -> HttpResponseBase:
    form = WebhookForm(request.POST if request.method == "POST" else None)
    secret = ""
    if form.is_valid():
        created = _submit(form, registration.create_webhook, by=signed_in(request), project=member.project)
        if created:
            # shown now and never again, so it is not left in a session or an address
            secret, form = created[1], WebhookForm()
    table = Table(member.project.webhooks.order_by("pk"), COLUMNS)
    context = {"form": form, "secret": secret, "webhooks": table, "pages": PAGES}
    return render(request, "labelling_ui/webhooks.html", context)


@project_page(MANAGER)
def webhook(request: HttpRequest, member: Membership, webhook_id: int, secret: str = "") -> HttpResponseBase:
    row = _find(member, webhook_id)
    sent = request.POST if request.method == "POST" and not secret else None
    form = WebhookForm(sent, initial={"url": row.url, "events": row.events})
    if form.is_valid():
        saved = _submit(form, _change, by=signed_in(request), webhook=row)
        if saved:
            return redirect("webhook", member.project.slug, webhook_id)
    deliveries, filters = row.deliveries.all(), Filters(request.GET, DELIVERIES)
    new = deliveries.filter(state=WebhookDelivery.State.WAITING, attempts=0).exists()
    live = reverse("webhook", args=[member.project.slug, webhook_id]) if new else ""
    listing = Listing(request, deliveries, DELIVERIES, sort="-created", filters=filters, live=live)
    context = {"form": form, "secret": secret, "webhook": row, "pages": PAGES}
    return respond(request, "labelling_ui/webhook.html", listing, "deliveries", context)


@project_action(MANAGER)
def act(request: HttpRequest, member: Membership, webhook_id: int, action: str) -> HttpResponseBase:
    """Send a test, pause, activate or delete a webhook, or replace its secret."""
    row = _find(member, webhook_id)
    if action == "test":
        attempt(
            request,
            gettext("The test is on its way. The response appears below."),
            registration.send_test,
            webhook=row,
        )
    elif action in ("pause", "activate"):
        state = Webhook.State.PAUSED if action == "pause" else Webhook.State.ACTIVE
        done = gettext("Paused. Events are not stored for it.") if action == "pause" else gettext("Active again.")
        attempt(request, done, registration.change_webhook, webhook=row, changes={"state": state})
    elif action == "replace-secret":
        secret = registration.replace_secret(by=signed_in(request), webhook=row)
        return webhook(request, slug=member.project.slug, webhook_id=webhook_id, secret=secret)
    elif action == "delete":
        attempt(request, gettext("The webhook is deleted."), registration.delete_webhook, webhook=row)
        return redirect("webhooks", member.project.slug)
    else:
        raise Http404(gettext("This action does not exist."))
    return redirect("webhook", member.project.slug, webhook_id)


@project_action(MANAGER)
def redeliver(request: HttpRequest, member: Membership, webhook_id: int, delivery_id: int) -> HttpResponseBase:
    """Attempt one delivery again."""
    rows = WebhookDelivery.objects.select_related("webhook__project")
    delivery = get_object_or_404(rows, webhook=_find(member, webhook_id), pk=delivery_id)
    attempt(request, gettext("The delivery is attempted again now."), registration.redeliver, delivery=delivery)
    return redirect("webhook", member.project.slug, webhook_id)


def _find(member: Membership, webhook_id: int) -> Webhook:
    return get_object_or_404(Webhook.objects.select_related("project"), project=member.project, pk=webhook_id)


def _change(*, url: str, events: list[str], **named: Any) -> Webhook:
    return registration.change_webhook(changes={"url": url, "events": events}, **named)


def _submit(form: WebhookForm, service: Any, **named: Any) -> Any:
    """The result of a service with the fields of a valid form; None if it rejects one, with the reason at the field."""
    try:
        return service(**form.cleaned_data, **named)
    except DomainError as error:
        show_refusal(form, error)
        return None
