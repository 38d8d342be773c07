from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.labels.agreement.cube import agreement_of
from annotation.labels.labour.statistics import labels_of, lanes_of_open_generation, my_progress
from tests.factories import AnnotationFactory, MembershipFactory, QueueItemFactory, SolutionFactory


@pytest.mark.django_db
class TestOfAProject:
    @pytest.fixture
    def solution(self):
        return SolutionFactory()

    def label(self, solution, first_error, **fields):
        finish = "solution" if first_error == -1 else "found_error"
        return AnnotationFactory(solution=solution, first_error=first_error, finish_reason=finish, **fields)

    def test_only_latest_revisions_count(self, solution):
        one = self.label(solution, 0, total_ms=1000)
        self.label(solution, 2, annotator=one.annotator, source=one.source, revision=2, total_ms=3000)
        self.label(solution, 2, total_ms=5000)
        self.label(SolutionFactory(project=solution.project), -1, total_ms=9000)
        agreement = agreement_of(solution.project)
        assert (agreement.solutions, agreement.pairs, agreement.value) == (1, 1, 1)
        assert labels_of(solution.project) == {"total": 3, "first_errors": 2, "median_seconds": 5}
        AnnotationFactory(solution__project=solution.project, source__kind="simulated", total_ms=90_000)
        assert labels_of(solution.project)["median_seconds"] == 5, "people, where there are people"
        mine = my_progress(by=one.annotator.user, project=solution.project)
        assert mine == {"today": 1, "total": 1, "median_seconds": 3}

    @pytest.mark.parametrize(("zone", "today"), [("UTC", 1), ("Pacific/Kiritimati", 0), ("America/New_York", 1)])
    def test_my_day_begins_at_the_projects_midnight(self, solution, monkeypatch, zone, today):
        project = solution.project
        project.policy = {"rounds": {"time_zone": zone}}
        project.save()
        noon = datetime(2026, 3, 2, 12, tzinfo=UTC)
        mine = self.label(solution, 0, submitted_at=noon - timedelta(hours=4))
        monkeypatch.setattr(timezone, "now", lambda: noon)
        assert my_progress(by=mine.annotator.user, project=project)["today"] == today

    def test_imported_labels_are_not_the_projects_own_work(self, solution):
        self.label(solution, 0, annotator=None)
        assert labels_of(solution.project) == {"total": 0, "first_errors": 0, "median_seconds": None}

    def test_lanes_and_who_may_see_them(self, solution):
        item = QueueItemFactory(wanted=3, done=1)
        assert lanes_of_open_generation(item.project) == [{"lane": "control", "items": 1, "wanted": 3, "done": 1}]
        for role, status in [("annotator", 403), ("reviewer", 200)]:
            client = APIClient()
            client.force_login(MembershipFactory(project=item.project, role=role).user)
            assert client.get(f"/api/v1/projects/{item.project.slug}/statistics/").status_code == status
