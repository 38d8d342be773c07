"""The OpenAPI schema, generated from the structs of requests and responses."""

from collections.abc import Iterator
from dataclasses import is_dataclass
from types import UnionType
from typing import Any, Literal, cast, get_args, get_origin

import msgspec
from django.db.models import TextChoices
from drf_spectacular.drainage import warn
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, build_parameter_type
from drf_spectacular.utils import OpenApiExample, OpenApiParameter
from msgspec.inspect import StructType, Type, type_info

from annotation.api.authentication import TokenScheme
from annotation.api.errors import ErrorBody
from annotation.api.examples import find_example
from annotation.api.field_texts import text_of
from annotation.api.paging import PagedView, PageQuery
from annotation.api.scopes import scope_of
from prm.messages import Message

Direction = Literal["request", "response"]
WHERE = {"request": "#/components/schemas/{name}Request", "response": "#/components/schemas/{name}"}


def query_of(kind: type[msgspec.Struct]) -> list[OpenApiParameter]:
    """The query parameters that a struct's fields describe."""
    parameters = []
    for field in msgspec.structs.fields(kind):
        shape = msgspec.json.schema(field.type, schema_hook=_schema_of_texts)
        about = shape.pop("description", "")
        parameters.append(OpenApiParameter(field.encode_name, shape, required=field.required, description=about))
    return parameters


class EndpointSchema(AutoSchema):
    """Describes structs, lists and unions of them, where drf-spectacular expects serializers.

    Every endpoint returns errors with the same body. An endpoint that waits for a worker (`asks_a_worker`) can also
    fail because there is no worker, or time out.
    """

    def get_auth(self) -> list[dict[str, Any]]:
        """The ways to authenticate; a token needs the scope of the request."""
        scope = scope_of(self.view, self.method) if hasattr(self.view, "scopes") else None
        return [
            {name: [scope] if name == TokenScheme.name and scope else needed for name, needed in way.items()}
            for way in super().get_auth()
        ]

    def get_responses_of_errors(self) -> dict[str, dict]:
        codes = ("4XX", "5XX") if getattr(self.view, "asks_a_worker", False) else ("4XX",)
        return {code: self._get_response_for_code(ErrorBody, code, ["application/json"]) for code in codes}

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, dict]:
        answer = self.get_response_serializers()
        bodies = (
            {"200": self._get_response_for_code(answer, "200", direction=direction)}
            if _is_described(answer)
            else super()._get_response_bodies(direction)
        )
        return bodies | self.get_responses_of_errors()

    def _get_pagination_parameters(self) -> list[dict[str, Any]]:
        if not (isinstance(self.view, PagedView) and self.method == "GET"):
            return []
        return [
            build_parameter_type(
                name=one.name, schema=cast(dict[str, Any], one.type), location="query", description=one.description
            )
            for one in query_of(PageQuery)
        ]

    def _get_request_for_media_type(self, serializer: Any, direction: Direction = "request") -> tuple[Any, bool]:
        if not _is_described(serializer):
            described: tuple[Any, bool] = super()._get_request_for_media_type(serializer, direction)
            return described
        return self._schema_of(serializer, direction), bool(_required(serializer))

    def _get_response_for_code(
        self, serializer: Any, status_code: str, media_types: list[str] | None = None, direction: Direction = "response"
    ) -> dict[str, Any]:
        described = self._schema_of(serializer, direction) if _is_described(serializer) else serializer
        answer: dict[str, Any] = super()._get_response_for_code(described, status_code, media_types, direction)
        return answer

    def get_examples(self) -> list[OpenApiExample]:
        example = find_example(self.get_operation_id())
        if example is None:
            return []
        return [OpenApiExample("Example", example.response, summary=example.request, response_only=True)]

    def _is_list_view(self, serializer: Any = None) -> bool:
        return False  # lists are described as such

    def _schema_of(self, kind: Any, direction: Direction) -> dict[str, Any]:
        """The schema of a type; its structs become components."""
        if isinstance(kind, UnionType):
            return {"anyOf": [self._schema_of(one, direction) for one in get_args(kind)]}
        (schema,), components = msgspec.json.schema_components(
            (kind,), schema_hook=_schema_of_texts, ref_template=WHERE[direction]
        )
        optional = _optional_fields(kind) if direction == "response" else {}
        for name, component in components.items():
            component.pop("title", None)
            for field, shape in component.get("properties", {}).items():
                if (text := text_of(name.partition("_")[0], field)) is not None:
                    shape.setdefault("description", text)
            if direction == "response" and "properties" in component:
                component["required"] = [one for one in component["properties"] if one not in optional.get(name, ())]
            self._register(WHERE[direction].format(name=name).rpartition("/")[2], component)
        described: dict[str, Any] = schema
        return described

    def _register(self, name: str, schema: dict[str, Any]) -> None:
        component = ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, schema=schema, object=name)
        if component in self.registry and self.registry[component].schema != schema:
            warn(f"two structs are called {name}")
        self.registry.register_on_missing(component)


def _is_described(kind: Any) -> bool:
    origin = get_origin(kind) or kind
    if origin in (list, UnionType):
        return True
    return isinstance(origin, type) and (issubclass(origin, msgspec.Struct) or is_dataclass(origin))


def _required(kind: Any) -> list[str]:
    return [field.name for field in msgspec.structs.fields(kind) if field.required]


def _schema_of_texts(kind: Any) -> dict[str, Any]:
    if issubclass(kind, TextChoices):
        return {"type": "string", "enum": kind.values}
    if kind is Message:
        return {"type": "string"}
    raise NotImplementedError(kind)


def _optional_fields(kind: Any) -> dict[str, set[str]]:
    """By struct, the fields that a response may leave out: UNSET fields, and defaults of structs that omit them."""
    structs = {get_origin(info.cls) or info.cls: info for info in _structs_in(type_info(kind))}
    return {
        struct.__name__: {
            field.encode_name
            for field in info.fields
            if not field.required
            and (struct.__struct_config__.omit_defaults or field.default is field.default_factory)  # neither: UNSET
        }
        for struct, info in structs.items()
    }


def _structs_in(info: Any) -> Iterator[StructType]:
    if isinstance(info, StructType):
        yield info
    if isinstance(info, Type | msgspec.inspect.Field):
        info = [getattr(info, name) for name in info.__struct_fields__]
    for one in info if isinstance(info, list | tuple) else ():
        yield from _structs_in(one)
