"""Webhooks: register them, change them, read the log of their deliveries, and deliver again."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body, sent_fields
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, Id, about, one_of
from annotation.core.membership.access import find_project, find_visible
from annotation.core.reading import find_row
from annotation.core.webhooks import registration
from annotation.core.webhooks.addresses import LONGEST_URL
from annotation.core.webhooks.events import EVENTS
from annotation.models import Membership, Webhook, WebhookDelivery
from prm.messages import Message

Events = Annotated[
    list[Annotated[str, one_of(EVENTS)]],
    Meta(min_length=1, max_length=len(EVENTS), description="The events that are sent to the address."),
]
Url = Annotated[str, Meta(max_length=LONGEST_URL, description="HTTPS, or a host of WEBHOOK_PRIVATE_HOSTS.")]


class WebhookRow(Row):
    """An address that receives events of a project."""

    id: Annotated[Id, about("The webhook's id.")]
    url: Annotated[str, about("The address that receives the events.")]
    events: Annotated[list[str], about("The events that are sent to it.")]
    state: Annotated[Webhook.State, about("`disabled`: deliveries failed for days.")]
    failing_since: Annotated[datetime | None, about("The first failure after the last success.")]
    created_at: Annotated[datetime, about("When it was registered.")]


class CreatedWebhook(WebhookRow):
    secret: Annotated[str, about("Signs the deliveries. Shown only once.")]


class NewSecret(msgspec.Struct):
    secret: Annotated[str, about("Signs the deliveries. Shown only once.")]


class WebhookToCreate(msgspec.Struct):
    url: Url
    events: Events


class WebhookChange(msgspec.Struct):
    """Changes to a webhook. Omitted fields keep their values."""

    url: Url | UnsetType = UNSET
    events: Events | UnsetType = UNSET
    state: Annotated[str, one_of(registration.STATES), about("Whether events are sent.")] | UnsetType = UNSET


class DeliveryRow(Row):
    """One event for one webhook, with the last response."""

    id: Annotated[Id, about("The delivery's id.")]
    message_id: Annotated[UUID, about("The header `webhook-id` of every attempt.")]
    event: Annotated[str, about("What happened.")]
    body: Annotated[str, about("The body of every attempt.")]
    state: Annotated[WebhookDelivery.State, about("`failed`: it is not attempted again.")]
    attempts: Annotated[Count, about("How often it was attempted.")]
    next_attempt_at: Annotated[datetime, about("The time of the next attempt while the state is waiting.")]
    attempted_at: Annotated[datetime | None, about("The time of the last attempt.")]
    status: Annotated[int | None, about("HTTP status of the last response.")]
    response: Annotated[str, about("The beginning of the last response.")]
    error: Annotated[str, about("Why the last attempt has no response.")]
    created_at: Annotated[datetime, about("When the event happened.")]


class Webhooks(PagedView):
    """The webhooks of a project."""

    scopes = {"GET": "read", "POST": "admin"}

    @extend_schema(operation_id="list_webhooks", responses=Page[WebhookRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's webhooks. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        return self.page_of(project.webhooks.all(), request, WebhookRow.of)

    @extend_schema(operation_id="create_webhook", request=WebhookToCreate, responses={201: CreatedWebhook})
    def post(self, request: Request, slug: str) -> Response:
        """Register an address for events of the project. The secret is shown only once. Managers only."""
        project = find_project(request.user, slug)
        body = read_body(request, WebhookToCreate)
        webhook, secret = registration.create_webhook(
            by=caller(request), project=project, url=body.url, events=body.events
        )
        return Response(CreatedWebhook.of(webhook, secret=secret), status=201)


class WebhookDetail(APIView):
    """One webhook."""

    scopes = {"GET": "read", "PATCH": "admin", "DELETE": "admin"}

    @extend_schema(operation_id="get_webhook", responses=WebhookRow)
    def get(self, request: Request, webhook_id: int) -> Response:
        """One webhook. Managers only."""
        return Response(WebhookRow.of(_find(request, webhook_id)))

    @extend_schema(operation_id="change_webhook", request=WebhookChange, responses=WebhookRow)
    def patch(self, request: Request, webhook_id: int) -> Response:
        """Change the address or the events, pause the webhook, or activate it again. Managers only."""
        changes = sent_fields(read_body(request, WebhookChange))
        webhook = registration.change_webhook(by=caller(request), webhook=_find(request, webhook_id), changes=changes)
        return Response(WebhookRow.of(webhook))

    @extend_schema(operation_id="delete_webhook", responses={204: None})
    def delete(self, request: Request, webhook_id: int) -> Response:
        """Delete the webhook with the log of its deliveries. Managers only."""
        registration.delete_webhook(by=caller(request), webhook=_find(request, webhook_id))
        return Response(status=204)


class ReplaceSecret(APIView):
    """Replacing the secret."""

    scopes = {"POST": "admin"}

    @extend_schema(operation_id="replace_webhook_secret", request=None, responses=NewSecret)
    def post(self, request: Request, webhook_id: int) -> Response:
        """Make a new secret, which is shown only once. The old one is invalid at once. Managers only."""
        secret = registration.replace_secret(by=caller(request), webhook=_find(request, webhook_id))
        return Response(NewSecret(secret))


class SendTest(APIView):
    """A test event."""

    scopes = {"POST": "admin"}

    @extend_schema(operation_id="test_webhook", request=None, responses={202: DeliveryRow})
    def post(self, request: Request, webhook_id: int) -> Response:
        """Send an event of the type `webhook.test`, once. Managers only."""
        delivery = registration.send_test(by=caller(request), webhook=_find(request, webhook_id))
        return Response(DeliveryRow.of(delivery), status=202)


class Deliveries(PagedView):
    """The deliveries to a webhook."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_deliveries", responses=Page[DeliveryRow])
    def get(self, request: Request, webhook_id: int) -> Response:
        """The deliveries of the last 30 days, latest first. Managers only."""
        return self.page_of(_find(request, webhook_id).deliveries.all(), request, DeliveryRow.of)


class Redeliver(APIView):
    """Delivering again."""

    scopes = {"POST": "admin"}

    @extend_schema(operation_id="redeliver", request=None, responses={202: DeliveryRow})
    def post(self, request: Request, webhook_id: int, delivery_id: int) -> Response:
        """Attempt a delivery again now, with the same id and body. Managers only."""
        webhook: Any = _find(request, webhook_id)
        deliveries = webhook.deliveries.select_related("webhook__project").filter(pk=delivery_id)
        delivery = find_row(deliveries, Message("delivery_not_found"))
        return Response(DeliveryRow.of(registration.redeliver(by=caller(request), delivery=delivery)), status=202)


def _find(request: Request, webhook_id: int) -> Webhook:
    otherwise = Message("webhook_not_found")
    return find_visible(request.user, Webhook.objects.all(), webhook_id, otherwise, Membership.Role.MANAGER)
