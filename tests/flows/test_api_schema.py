"""The API does what its OpenAPI description says, whatever is sent to it."""

import pytest
import schemathesis
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS, load_all_checks

from annotation.core.membership.tokens import issue_token
from annotation.models import Lease, Membership
from annotation.work.claiming import claim_next
from config.wsgi import application
from tests.factories import MembershipFactory, QueueItemFactory

EXAMPLES = 5  # of each operation

load_all_checks()
# A request may be well-formed and still be refused by the domain; a boolean may be spelled "true".
BEYOND_THE_SCHEMA = [CHECKS.get_one(name) for name in ("positive_data_acceptance", "negative_data_rejection")]

for media_type in ("application/offset+octet-stream", "application/x-ndjson"):
    schemathesis.openapi.media_type(media_type, st.binary(max_size=200))
api = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(public=True))
api.app = application


def test_the_description_is_complete(tmp_path):
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yml"))


@pytest.fixture
def manager(db, one_connection):
    item = QueueItemFactory()
    return MembershipFactory(project=item.project, role=Membership.Role.MANAGER)


@pytest.fixture
def one_connection():
    """Requests stay inside the test's transaction; Django would close its connection around them."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@api.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_operation_keeps_its_word(case, manager):
    _, secret = issue_token(by=manager.user, name="schema")
    lease = claim_next(by=manager.user, project=manager.project, holding=[]).lease or Lease.objects.first()
    # Random addresses would only ever find nothing.
    known = {"slug": manager.project.slug, "lease_id": lease.pk if lease else 1}
    case.path_parameters.update({name: known[name] for name in known if name in case.path_parameters})
    case.call_and_validate(headers={"Authorization": f"Token {secret}"}, excluded_checks=BEYOND_THE_SCHEMA)
