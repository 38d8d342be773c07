"""Periodic work reaches every project, also behind one where it fails."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from annotation.core.periodic import for_each
from annotation.labels.annotators.batch_watch import watch_projects
from annotation.labels.consensus.fits import request_due_fits
from annotation.loop.model_jobs.retention import keep_to_policy
from annotation.loop.rounds.retention import prune_runs
from annotation.loop.schedule.automatic import start_due_runs
from annotation.models import Project, ServedScore
from annotation.serving.traffic import forget_old_scores
from tests.factories import ProjectFactory


def test_the_others_are_done_and_every_failure_is_told():
    seen = []

    def work(name):
        seen.append(name)
        if name.startswith("broken"):
            raise ValueError(name)
        return 2

    with pytest.raises(ExceptionGroup) as failed:
        for_each(["a", "broken 1", "b", "broken 2"], work)
    assert seen == ["a", "broken 1", "b", "broken 2"]
    assert [error.__notes__ for error in failed.value.exceptions] == [["In broken 1."], ["In broken 2."]]
    assert for_each(["a", "b"], work) == 4


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "sweep", [forget_old_scores, keep_to_policy, prune_runs, request_due_fits, start_due_runs, watch_projects]
)
def test_an_unreadable_policy_is_named_and_stops_no_sweep(sweep):
    first, second = ProjectFactory(), ProjectFactory()
    Project.objects.filter(pk=first.pk).update(policy={"rounds": "daily"})
    long_ago = timezone.now() - timedelta(days=1000)
    old = ServedScore.objects.create(request=uuid4(), project=second, route="score", asked_at=long_ago, seconds=1)
    with pytest.raises(ExceptionGroup) as failed:
        sweep()
    assert [error.__notes__ for error in failed.value.exceptions] == [[f"In {first}."]]
    assert ServedScore.objects.filter(pk=old.pk).exists() == (sweep is not forget_old_scores)
