"""Each example of the API is a request that gets the documented response.

With `WRITE_EXAMPLES=1` in the environment, a test that fails writes the response that it got into the example.
"""

import json
import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from uuid import UUID

import pytest

from annotation.api import examples
from annotation.api.examples import find_example
from annotation.api.reference import read_schema
from annotation.labels.annotators.batches import set_aside_by_hand
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Membership
from tests import manager_world
from tests.api_client import api_of

pytestmark = pytest.mark.django_db
FOLDER = Path(examples.__file__).parent
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.json"))
# Resources for reading; each has an example.
READ = ("solutions", "labels", "consensus", "people", "batches", "agreement", "audit", "snapshots")
IDS = ("id", "solution", "annotation", "snapshot", "target_id", "next")
READERS = {"pseudonym": UUID, "hash": bytes.fromhex, "time": datetime.fromisoformat}
SERVER = "stepmark.example.org"


@pytest.fixture
def answer(settings):
    """The response to a request about a project in which two people disagree. Ids in addresses are those of `ids`."""
    people = manager_world.create_people()
    project = manager_world.create_empty_project(people)
    manager_world.fill(project, people)
    member = Membership.objects.get(project=project, user=people["second"])
    label = project.annotations.get(annotator=member)
    set_aside_by_hand(
        by=people["manager"], project=project, annotator=member, since=label.submitted_at, until=label.submitted_at,
        reason="Rated while the guidelines were wrong.",
    )  # fmt: skip
    snapshot = create_snapshot(by=people["manager"], project=project, filters={"set_aside": "included"})
    settings.ALLOWED_HOSTS = [SERVER]
    client = api_of(people["manager"])
    ids = {"/labels/": label.pk, "/solutions/": label.solution_id, "/snapshots/": snapshot.pk}

    def ask(request):
        method, _, address = request.partition(" ")
        for place, pk in ids.items():
            head, found, tail = address.partition(place)
            number, _, rest = tail.partition("/")
            address = f"{head}{place}{pk}/{rest}" if found and number.isdecimal() else address
        response = getattr(client, method.lower())(address, secure=True, headers={"host": SERVER})
        assert response.status_code == 200, response.content
        return response.json()

    return ask


def differences(known, found, field=""):
    """Where a response differs from the documented one in more than ids, times, pseudonyms, hashes and addresses."""
    if isinstance(known, dict) and isinstance(found, dict) and known.keys() == found.keys():
        return [one for key in known for one in differences(known[key], found[key], key)]
    if isinstance(known, list) and isinstance(found, list) and len(known) == len(found):
        return [one for pair in zip(known, found, strict=True) for one in differences(*pair, field)]
    if known == found or (known is not None and kind_of(known, field) == kind_of(found, field) != "value"):
        return []
    return [(field, known, found)]


def kind_of(value, field):
    """The kind of a value that differs from run to run; "value" for others."""
    if field in IDS:
        return type(value)
    if isinstance(value, str):
        for kind, read in READERS.items():
            with suppress(ValueError):
                read(value)
                return kind
    return "value"


@pytest.mark.parametrize("operation", EXAMPLES)
def test_an_example_gets_the_documented_response(operation, answer):
    example = find_example(operation)
    response = answer(example.request)
    different = differences(example.response, response)
    if different and os.environ.get("WRITE_EXAMPLES"):
        text = json.dumps({"request": example.request, "response": response}, indent=2, ensure_ascii=False)
        (FOLDER / f"{operation}.json").write_text(text + "\n")
    assert different == []


@pytest.mark.slow
def test_each_resource_for_reading_has_an_example_of_its_list():
    paths = read_schema()["paths"]
    operations = [paths[f"/api/v1/projects/{{slug}}/{name}/"]["get"] for name in READ]
    assert {one["operationId"] for one in operations} <= {*EXAMPLES}
    for one in operations:
        [content] = one["responses"]["200"]["content"].values()
        [example] = content["examples"].values()
        assert example["value"] == find_example(one["operationId"]).response
