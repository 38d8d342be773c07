"""The API does what its OpenAPI description says, whatever is sent to it."""

from collections import defaultdict
from copy import deepcopy
from functools import cache

import pytest
import schemathesis
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.generation.meta import CoverageScenario
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.python._constants.orchestrator import make_constants_value_source

from annotation.api.reference import read_schema
from annotation.core.membership.tokens import issue_token
from annotation.models import Lease, Membership, Scope
from annotation.work.claiming import claim_next
from config.wsgi import application
from tests.factories import MembershipFactory, QueueItemFactory

EXAMPLES = 2  # drawn for each operation, after those that cover its description
SIMILAR = {CoverageScenario.INCORRECT_TYPE, CoverageScenario.UNSPECIFIED_HTTP_METHOD}

load_all_checks()
# A request may be well-formed and still be refused by the domain; a boolean may be spelled "true".
BEYOND_THE_SCHEMA = [CHECKS.get_one(name) for name in ("positive_data_acceptance", "negative_data_rejection")]
# Sends a case that succeeds three times more, without a token and with wrong ones.
WITHOUT_TOKEN = CHECKS.get_one("ignored_auth")

for media_type in ("application/offset+octet-stream", "application/x-ndjson"):
    schemathesis.openapi.media_type(media_type, st.binary(max_size=200))
api = schemathesis.openapi.from_dict(deepcopy(read_schema()))
api.app = application
OPERATIONS = {operation.ok().label: operation.ok() for operation in api.get_all_operations()}


def test_the_description_is_complete(tmp_path):
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yml"))


@pytest.fixture
def manager(db, one_connection):
    item = QueueItemFactory()
    manager = MembershipFactory(project=item.project, role=Membership.Role.MANAGER)
    claim_next(by=manager.user, project=manager.project, holding=[])
    return manager


@pytest.fixture
def secret(manager):
    return issue_token(by=manager.user, name="schema", scopes=Scope.values)[1]


@pytest.fixture
def one_connection():
    """Requests stay inside the test's transaction; Django would close its connection around them."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@cache
def feedback():
    """The constants of the application, which cases try as values."""
    return FeedbackSources(constants_value_source=make_constants_value_source(api))


@pytest.mark.parametrize("label", OPERATIONS)
def test_every_operation_keeps_its_word(label, manager, secret):
    """`api.parametrize` would build the cases of all operations, for 10 s, in every process that collects tests."""
    keeps_its_word = build_operation_test(
        config=api.config, operation=OPERATIONS[label], test_func=check_case, given_kwargs={}, feedback=feedback()
    )
    keeps_its_word.hypothesis_explicit_examples = one_of_similar(
        keeps_its_word.hypothesis_explicit_examples, turn=list(OPERATIONS).index(label)
    )
    keeps_its_word(manager=manager, secret=secret, known=[])


def one_of_similar(examples, *, turn):
    """One wrong type for each value and one method that is not described, others in the next operation.

    All operations decode a request in the same way, and `test_hostile_requests.py` sends wrong values to every place.
    """
    places = defaultdict(list)
    for number, example in enumerate(examples):
        about = example.kwargs["case"].meta.phase.data
        alike = getattr(about, "scenario", None) in SIMILAR
        place = (about.scenario, about.parameter_location, about.parameter, about.location) if alike else number
        places[place].append(example)
    return [alike[(turn + number) % len(alike)] for number, alike in enumerate(places.values())]


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def check_case(case, manager, secret, known):
    """Send one request and check its answer against the description.

    `known` are the checks of the whole operation, which its first success has passed.
    """
    # Random addresses would only ever find nothing.
    if "slug" in case.path_parameters:
        case.path_parameters["slug"] = manager.project.slug
    if "lease_id" in case.path_parameters:
        lease = claim_next(by=manager.user, project=manager.project, holding=[]).lease or Lease.objects.first()
        case.path_parameters["lease_id"] = lease.pk if lease else 1
    response = case.call_and_validate(
        headers={"Authorization": f"Token {secret}"}, excluded_checks=[*BEYOND_THE_SCHEMA, *known]
    )
    if 200 <= response.status_code < 300 and not known:
        known.append(WITHOUT_TOKEN)
