"""Whatever a request holds, the API answers it: a body that no program of ours would send is refused, never a 500."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.api.reference import read_schema
from annotation.models import Membership
from annotation.work.claiming import claim_next
from tests.factories import MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db
SCHEMA = read_schema()
BODIES = [
    (method, path, operation["requestBody"]["content"]["application/json"]["schema"])
    for path, operations in SCHEMA["paths"].items()
    for method, operation in operations.items()
    if "application/json" in operation.get("requestBody", {}).get("content", {})
]
DEEP = 1_000
VALUES: dict[str, Any] = {
    "NUL": "a\x00b",
    "half a character": "\ud800",
    "a name": {"\x00\udfff": ["\x00", {"\ud800": "\udc00"}]},
    "huge": 10**40,
    "nothing": None,
    "a list": [[]],
    "an object": {"": {}},
    "long": "9" * 5_000,
}
RAW = {
    "deep list": b"[" * DEEP + b"]" * DEEP,
    "deep object": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "deeper than C goes": b"[" * 200_000,
    "no JSON": b"\xff\xfe{",
    "NUL bytes": b"\x00\x00",
    "many digits": b"1" * 10_000,
    "not a number": b'{"a": NaN}',
    "beyond all numbers": b'{"a": 1e999}',
    "a list": b"[1]",
    "a text": b'"\\ud800"',
    "null": b"null",
    "empty": b"",
}
KINDS = [
    "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary=x",
    "application/json; charset=utf-16", "application/json; charset=nothing", "", "///",
]  # fmt: skip


@pytest.fixture
def api():
    item = QueueItemFactory()
    membership = MembershipFactory(project=item.project, role=Membership.Role.MANAGER)
    lease = claim_next(by=membership.user, project=membership.project, holding=[]).lease
    client = APIClient(raise_request_exception=False)
    client.force_authenticate(membership.user)
    client.known = {"slug": membership.project.slug, "lease_id": lease.pk, "solution_id": lease.solution_id}
    return client


def call(client, method, path, content, kind="application/json"):
    for name in (part[1:-1] for part in path.split("/") if part.startswith("{")):
        path = path.replace(f"{{{name}}}", str(client.known.get(name, 1)))
    answer = client.generic(method.upper(), path, content, content_type=kind)
    return answer.status_code, getattr(answer, "data", None)


def resolved(schema):
    while "$ref" in schema or "allOf" in schema or "oneOf" in schema:
        schema = (schema.get("allOf") or schema.get("oneOf") or [schema])[0]
        if "$ref" in schema:
            schema = SCHEMA["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def example(schema) -> Any:
    schema = resolved(schema)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: example(inner) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [example(schema.get("items", {}))]
    formats = {"uuid": "4b2a7a6e-8d5c-4a39-9f0e-1f1de2a0b1aa", "date-time": "2026-01-01T00:00:00Z"}
    plain = {"integer": schema.get("minimum", 1), "number": 0.5, "boolean": True}
    return plain.get(kind, formats.get(schema.get("format"), "a"))


def spoilt(value: Any, by: Any) -> Iterator[Any]:
    """The value with each of its parts replaced."""
    yield by
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        for inner in spoilt(part, by):
            copy = value.copy()
            copy[name] = inner
            yield copy


@pytest.mark.parametrize(("method", "path", "schema"), BODIES, ids=[f"{method} {path}" for method, path, _ in BODIES])
def test_any_value_in_any_place_of_a_body_is_answered(api, method, path, schema):
    failed = []
    for what, by in VALUES.items():
        for body in spoilt(example(schema), by):
            status, answer = call(api, method, path, json.dumps(body))
            if status >= 500 and (answer or {}).get("code") not in ("no_worker", "no_answer"):
                failed.append((what, status, json.dumps(body)[:300]))
    assert not failed, "\n".join(map(str, failed))


@pytest.mark.parametrize(("method", "path", "schema"), BODIES, ids=[f"{method} {path}" for method, path, _ in BODIES])
def test_any_bytes_as_a_body_are_answered(api, method, path, schema):
    failed = [(what, status) for what, content in RAW.items() if (status := call(api, method, path, content)[0]) >= 500]
    good = json.dumps(example(schema)).encode()
    failed += [(kind, status) for kind in KINDS if (status := call(api, method, path, good, kind)[0]) >= 500]
    assert not failed


@pytest.mark.parametrize("what", ["deep list", "deep object", "deeper than C goes"])
@pytest.mark.parametrize("path", ["/api/v1/score", "/api/v1/projects/{slug}/annotations/"])
def test_json_that_is_nested_too_deeply_is_refused(api, path, what):
    status, answer = call(api, "post", path, RAW[what])
    assert (status, answer["code"]) == (400, "parse_error")
    assert answer["message"] == "The JSON of this request is nested more than 100 levels deep."
