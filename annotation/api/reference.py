"""The reference of the API, from its OpenAPI description: resources, operations, and the objects of their bodies."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

GROUP = re.compile(r"/api/v1/(?:projects/\{slug\}/)?([a-z-]+)|/(\w+)")
REFERENCE = re.compile(r'"#/components/schemas/(\w+)"')
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Operation:
    """One request: the scope of its token, its query parameters, and the schemas of its bodies by content type and of
    its responses by status.

    An example has the request and the JSON of its response.
    """

    method: str
    path: str
    description: str
    scope: str
    parameters: list[Schema]
    bodies: dict[str, Schema]
    responses: dict[str, list[Schema]]
    examples: list[tuple[str, str]]


@dataclass(frozen=True)
class Resource:
    """The operations on one kind of thing, and the objects of their bodies, by name."""

    name: str
    operations: list[Operation] = field(default_factory=list)
    objects: dict[str, Schema] = field(default_factory=dict)


@cache
def read_schema() -> dict[str, Any]:
    """The OpenAPI description of the API."""
    from drf_spectacular.generators import SchemaGenerator  # it needs Django's settings

    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return schema


@cache
def read_resources() -> dict[str, Resource]:
    """The resources of the API by name, in order of their names."""
    schema = read_schema()
    resources: dict[str, Resource] = {}
    objects = schema["components"]["schemas"]
    for path, operations in schema["paths"].items():
        match = GROUP.match(path)
        assert match, path
        name = match[1] or match[2]
        name = "models" if name == "v1" else name
        resource = resources.setdefault(name, Resource(name))
        for method, operation in operations.items():
            resource.operations.append(_read_operation(method, path, operation))
            resource.objects.update(_objects_in(operation, objects))
    return dict(sorted(resources.items()))


def name_type(schema: Schema, *, link: Callable[[str], str], code: Callable[[str], str]) -> str:
    """The type of a value in a few words; `link` writes the name of an object, and `code` a value."""

    def name(one: Schema) -> str:
        return name_type(one, link=link, code=code)

    match schema:
        case {"$ref": reference}:
            return link(reference.rpartition("/")[2])
        case {"anyOf": choices} | {"oneOf": choices}:
            return " or ".join(name(choice) for choice in choices)
        case {"enum": values}:
            return ", ".join(code(str(value)) for value in values)
        case {"type": "array"}:
            return f"list of {name(schema.get('items', {}))}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"object of {name(values)}"
        case {"type": kind, "format": form}:
            return f"{kind} ({form})"
        case {"type": kind}:
            return str(kind)
    return "any"


def _read_operation(method: str, path: str, operation: Schema) -> Operation:
    answers = {
        status: list(answer["content"].values())
        for status, answer in operation["responses"].items()
        if status.startswith("2") and "content" in answer
    }
    return Operation(
        method=method.upper(),
        path=path,
        description=operation["description"],
        scope=next(way["token"][0] for way in operation["security"] if "token" in way),
        parameters=[one for one in operation.get("parameters", []) if one["in"] == "query"],
        bodies={kind: body["schema"] for kind, body in operation.get("requestBody", {}).get("content", {}).items()},
        responses={status: [body["schema"] for body in bodies] for status, bodies in answers.items()},
        examples=[
            (example["summary"], json.dumps(example["value"], indent=2, ensure_ascii=False))
            for bodies in answers.values()
            for body in bodies
            for example in body.get("examples", {}).values()
        ],
    )


def _objects_in(value: Any, objects: Mapping[str, Schema]) -> Iterator[tuple[str, Schema]]:
    """The objects that a part of the description refers to, and those that they refer to, each once."""
    waiting, seen = [value], set[str]()
    while waiting:
        for name in REFERENCE.findall(json.dumps(waiting.pop())):
            if name not in seen:
                seen.add(name)
                waiting.append(objects[name])
                yield name, objects[name]
