"""Days and times on pages are in the zone of the reader's browser, in filters and charts as in lists."""

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Membership, Snapshot
from labelling_ui.pages.simulations import SnapshotField
from tests.factories import AnnotationFactory, MembershipFactory

pytestmark = pytest.mark.django_db
EVENING = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)


@pytest.fixture
def manager() -> Membership:
    return MembershipFactory(role=Membership.Role.MANAGER)


@pytest.fixture
def reader(manager: Membership) -> Client:
    client = Client()
    client.force_login(manager.user)
    return client


@pytest.mark.parametrize(
    ("zone", "day"),
    [("Europe/Berlin", "2026-03-02"), ("America/New_York", "2026-03-01"), ("", "2026-03-01"), ("../x", "2026-03-01")],
)
def test_a_list_filters_by_days_of_the_readers_zone(reader: Client, manager: Membership, zone: str, day: str) -> None:
    AnnotationFactory(solution__project=manager.project, annotator=manager, submitted_at=EVENING)
    reader.cookies["zone"] = zone
    listed = {
        one: reader.get(f"/p/{manager.project.slug}/labels/?since={one}&until={one}").context["listing"].shown_count()
        for one in ("2026-03-01", "2026-03-02")
    }
    assert listed == {"2026-03-01": "0", "2026-03-02": "0"} | {day: "1"}
    assert timezone.get_current_timezone_name() == "UTC", "the next request begins as this one did"


def test_the_api_filters_by_days_in_utc(reader: Client, manager: Membership) -> None:
    AnnotationFactory(solution__project=manager.project, annotator=manager, submitted_at=EVENING)
    reader.cookies["zone"] = "Europe/Berlin"
    address = f"/api/v1/projects/{manager.project.slug}/labels/?since=2026-03-01&until=2026-03-01"
    assert len(reader.get(address).json()["results"]) == 1


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Calcutta"])
def test_a_chart_has_the_days_of_its_lists(reader: Client, manager: Membership, zone: str) -> None:
    reader.cookies["zone"] = zone
    AnnotationFactory(solution__project=manager.project, annotator=manager)
    [bar] = [bar for bar in reader.get(f"/p/{manager.project.slug}/").context["charts"][0].bars if bar.href]
    assert reader.get(bar.href).context["listing"].shown_count() == "1"
    assert reader.get(f"/p/{manager.project.slug}/serving/").status_code == 200


@pytest.mark.parametrize(("zone", "day"), [("Asia/Tokyo", "2 Mar 2026"), ("UTC", "1 Mar 2026")])
def test_a_simulation_names_its_snapshot_by_a_day_of_the_readers_zone(zone: str, day: str) -> None:
    snapshot = Snapshot(created_at=EVENING, sha256="a" * 64)
    with timezone.override(zone):
        assert day in SnapshotField(Snapshot.objects.none()).label_from_instance(snapshot)
