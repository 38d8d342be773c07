"""Every field and every query parameter of the API is described."""

import re

from annotation.api.field_texts import TEXTS
from annotation.api.reference import read_schema


def test_every_field_is_described():
    missing = [
        f"{name}.{field}"
        for name, schema in read_schema()["components"]["schemas"].items()
        for field, one in schema.get("properties", {}).items()
        if not one.get("description")
    ]
    assert missing == []


def test_every_query_parameter_is_described():
    missing = [
        (path, one["name"])
        for path, operations in read_schema()["paths"].items()
        for operation in operations.values()
        for one in operation.get("parameters", [])
        if one["in"] == "query" and not one.get("description")
    ]
    assert missing == []


def test_every_text_is_of_a_field():
    fields = {
        key
        for name, schema in read_schema()["components"]["schemas"].items()
        for field in schema.get("properties", {})
        for key in (field, f"{re.sub('Request$', '', name)}.{field}")
    }
    assert {*TEXTS} - fields == set()
