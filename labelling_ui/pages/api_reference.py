"""The reference of the API: its resources, and the requests and objects of one, with examples."""

import re
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape, linebreaks
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from annotation.api.reference import Operation, Resource, Schema, name_type, read_resources
from annotation.core.membership.access import visible_projects
from annotation.models import Project
from labelling_ui.pages.access import login_required
from labelling_ui.pages.columns import Column
from labelling_ui.pages.listing import Table

ROOT = "/api/v1/"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _type(schema: Schema) -> SafeString:
    return mark_safe(name_type(schema, link=lambda name: f'<a href="#{name}">{name}</a>', code=_code))


def _prose(text: str) -> SafeString:
    """The paragraphs of a description, with what is in backquotes as code."""
    return mark_safe(re.sub(r"`([^`]*)`", r"<code>\1</code>", linebreaks(text, autoescape=True)))


FIELDS = [
    Column("name", _("Name"), heading=True, write=lambda name: mark_safe(_code(name))),
    Column("type", _("Type"), write=_type),
    Column("meaning", _("Meaning"), write=_prose),
]

RESOURCES = [
    Column("resource", _("Resource"), "name", heading=True),
    Column("methods", _("Requests"), lambda one: ", ".join(dict.fromkeys(o.method for o in one.operations))),
    Column("meaning", _("Meaning"), lambda one: one.operations[0].description.partition("\n")[0], write=_prose),
]


@login_required
def resources(request: HttpRequest) -> HttpResponse:
    found = list(read_resources().values())
    return render(request, "labelling_ui/api_reference.html", {"resources": Table(found, RESOURCES)})


@login_required
def resource(request: HttpRequest, name: str) -> HttpResponse:
    """One resource; reading links open it for the first project of the person."""
    found = read_resources().get(name)
    if found is None:
        raise Http404(f"The API has no resource {name}.")
    project = visible_projects(request.user).order_by("name").first()
    context = {"resource": found, "requests": _requests(found, project), "objects": _objects(found)}
    return render(request, "labelling_ui/api_resource.html", context)


def _requests(resource: Resource, project: Project | None) -> list[dict[str, Any]]:
    return [
        {
            "method": operation.method,
            "path": operation.path.removeprefix(ROOT),
            "description": _prose(operation.description),
            "scope": operation.scope,
            "parameters": operation.parameters and Table(list(map(_parameter, operation.parameters)), FIELDS),
            "bodies": [(kind, _type(schema)) for kind, schema in operation.bodies.items()],
            "responses": [(status, list(map(_type, bodies))) for status, bodies in operation.responses.items()],
            "examples": operation.examples,
            "address": _address(operation, project),
        }
        for operation in resource.operations
    ]


def _objects(resource: Resource) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "description": _prose(schema.get("description", "")),
            "fields": Table([_field(*one) for one in schema.get("properties", {}).items()], FIELDS),
        }
        for name, schema in sorted(resource.objects.items())
    ]


def _parameter(parameter: Schema) -> dict[str, Any]:
    return {"name": parameter["name"], "type": parameter["schema"], "meaning": parameter.get("description", "")}


def _field(name: str, schema: Schema) -> dict[str, Any]:
    return {"name": name, "type": schema, "meaning": schema.get("description", "")}


def _address(operation: Operation, project: Project | None) -> str:
    """The address that a browser can open; empty if it needs more than a project."""
    if operation.method != "GET":
        return ""
    address = operation.path.replace("{slug}", project.slug) if project else operation.path
    return "" if "{" in address else address
