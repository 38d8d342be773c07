"""The front end gets the types that it names, and those that they need."""

import pytest

from launch.api_types import reduce_to_used
from launch.errors import LaunchError

DESCRIPTION = {
    "openapi": "3.0.3",
    "paths": {"/runs/": {}},
    "components": {
        "schemas": {
            "Task": {"properties": {"step": {"$ref": "#/components/schemas/Step"}}},
            "Step": {"properties": {"task": {"$ref": "#/components/schemas/Task"}}},
            "Run": {"properties": {}},
        },
        "securitySchemes": {"token": {}},
    },
}


def test_keeps_named_schemas_and_what_they_refer_to():
    reduced = reduce_to_used(DESCRIPTION, 'type Task = Schemas["Task"];')
    assert set(reduced["components"]["schemas"]) == {"Task", "Step"}
    assert reduced["paths"] == {}


def test_refuses_a_name_that_the_api_does_not_have():
    with pytest.raises(LaunchError, match="Claim"):
        reduce_to_used(DESCRIPTION, 'Schemas["Claim"]')
