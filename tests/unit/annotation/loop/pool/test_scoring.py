"""The pool is scored once, by any number of workers, whatever dies meanwhile; what is stored is checked."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from django.db import connection

from annotation.core import lifecycle
from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.core.lifecycle import cancel_job, resume_job, sweep_jobs
from annotation.core.locks import advisory_lock
from annotation.loop.pool import checking, scoring, shards
from annotation.loop.rounds.stages import score
from annotation.models import AuditEntry, ModelVersion, PoolScore, PoolScoring, PoolShard
from tests.factories import MembershipFactory, SolutionFactory
from tests.waiting import until

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch):
    monkeypatch.setattr(shards, "SHARD", 6)


def scored(version):
    return set(PoolScore.objects.filter(model_version=version).values_list("solution", flat=True))


def pool_of(project):
    return set(project.solutions.filter(split="pool").values_list("pk", flat=True))


@pytest.fixture
def begun(champion, oracle, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        assert scoring.begin_scoring(champion) == 20
    return champion


@pytest.fixture
def chains(sent, django_capture_on_commit_callbacks):
    def go():
        while sent:
            with django_capture_on_commit_callbacks(execute=True):
                task, args, queue = sent.pop(0)
                assert (task, queue) == ("rounds.score_pool", "score")
                scoring.run_scoring(*args)

    return go


def test_a_new_champion_scores_the_pool_and_nothing_else(begun, project, oracle, chains):
    assert sorted(len(s.solutions) for s in begun.pool_shards.all()) == [2, 6, 6, 6]
    chains()
    assert scored(begun) == pool_of(project)
    assert not begun.pool_shards.exists()
    progress = PoolScoring.objects.get(model_version=begun)
    assert progress.finished_at is not None
    assert (progress.wanted, progress.steps) == (20, 60)
    # Each once, and once more those of the sample.
    assert len(oracle.asked) == 20 + progress.agreement.checked
    assert progress.agreement.differing == []


def test_only_what_is_new_is_scored_next(begun, project, oracle, chains, django_capture_on_commit_callbacks):
    chains()
    new = [SolutionFactory(project=project).pk for _ in range(3)]
    SolutionFactory(project=project, problem__split="holdout")
    oracle.asked.clear()
    with django_capture_on_commit_callbacks(execute=True):
        assert scoring.score_unscored() == 1
    assert [s.solutions for s in begun.pool_shards.all()] == [new]
    chains()
    assert scored(begun) == pool_of(project)
    assert scoring.score_unscored() == 0


def test_what_comes_while_shards_are_left_waits_for_the_next_cut(begun, project):
    SolutionFactory(project=project)
    assert shards.cut_shards(begun) == 0
    assert begun.pool_scoring.left == 20


def test_a_slice_ends_in_time_and_leaves_the_rest_of_its_shard(begun, oracle, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(shards.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(shards, "FIRST_BLOCK", 2)
    assert shards.score_slice(begun, seconds=3) == 4
    assert begun.pool_scoring.left == 16
    assert scored(begun) == set(oracle.asked)


def test_a_model_that_is_slower_than_a_slice_still_goes_on(begun, monkeypatch):
    monkeypatch.setattr(shards, "FIRST_BLOCK", 1)
    assert [shards.score_slice(begun, seconds=0) for _ in range(3)] == [1, 1, 1]


def test_what_fails_in_the_middle_of_a_slice_leaves_the_shard_whole(begun, oracle, monkeypatch):
    def dies(version, rows):
        raise MemoryError

    monkeypatch.setattr(shards, "write_scores", dies)
    with pytest.raises(MemoryError):
        shards.score_slice(begun)
    assert (begun.pool_scoring.left, scored(begun)) == (20, set())


def test_a_solution_that_is_gone_is_left_out(begun, project, chains):
    project.solutions.filter(split="pool").first().delete()
    chains()
    assert scored(begun) == pool_of(project)


def test_each_worker_of_the_queue_has_a_seat_and_no_seat_is_asked_for_twice(
    begun, oracle, sent, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(lifecycle, "_parts", lambda job: ["0", "1", "2"])
    with django_capture_on_commit_callbacks(execute=True):
        assert sweep_jobs() == 1
    assert sweep_jobs() == 0
    job = begun.pool_scoring.pk
    assert [args for _task, args, _queue in sent] == [(job, "0"), (job, "1"), (job, "2")]
    with advisory_lock(f"{PoolScoring._meta.label} 1", job):  # a worker sits there
        scoring.run_scoring(job, "1")
        assert oracle.asked == []
        assert sweep_jobs() == 0


def test_a_cancelled_scoring_ends_and_goes_on_with_what_is_left(begun, project, sent, chains):
    manager = MembershipFactory(project=project, role="manager").user
    shards.score_slice(begun, seconds=0)
    assert cancel_job(by=manager, job=begun.pool_scoring).state == "cancelled"
    chains()
    left = begun.pool_scoring.left
    assert (scoring.score_unscored(), sweep_jobs(), left > 0) == (0, 0, True)
    scoring.run_scoring(resume_job(by=manager, job=begun.pool_scoring).pk, "0")
    assert begun.pool_scoring.left < left


def test_a_round_leaves_a_cancelled_scoring_cancelled(begun, project, oracle):
    cancel_job(by=MembershipFactory(project=project, role="manager").user, job=begun.pool_scoring)
    outcome = score.perform(SimpleNamespace(project=project))
    assert (PoolScoring.objects.get().state, oracle.asked) == ("cancelled", [])
    assert (outcome.skipped, str(outcome.figure)) == (
        True,
        f"The scoring was cancelled: 20 solutions have no score of model {begun.number}.",
    )


def test_scorings_of_several_workers_count_no_attempt_of_those_that_join(begun):
    take_up = [lifecycle._claim(PoolScoring, begun.pool_scoring.pk, seat) for seat in "01234"]
    assert [job.attempts for job in take_up] == [1] * 5


def test_a_model_that_cannot_score_says_why_and_is_not_asked_again(begun, monkeypatch, chains):
    def unusable(version):
        raise DomainError("model.safetensors is corrupt", code="model_unusable")

    monkeypatch.setattr(shards.scoring, "loaded_scorer", unusable)
    chains()
    progress = PoolScoring.objects.get(model_version=begun)
    assert (progress.state, progress.failure) == ("failed", "model_unusable")
    assert progress.error == "model.safetensors is corrupt"
    assert (sweep_jobs(), scoring.score_unscored()) == (0, 0)
    assert AuditEntry.objects.filter(action="pool.failed").count() == 1


def test_scores_that_the_model_would_not_give_today_fail_loudly(begun, oracle, chains):
    chains()
    oracle.wrong = 0.01
    with pytest.raises(DomainError, match="Score the pool again") as found:
        checking.check_scores(begun)
    assert found.value.code == "scores_disagree"
    kept = PoolScoring.objects.get(model_version=begun).agreement
    assert (kept.checked, len(kept.differing)) == (20, 20)
    assert kept.worst == pytest.approx(0.01, abs=1e-3)
    assert AuditEntry.objects.filter(action="pool.disagree").count() == 1
    checking.check_champions()  # says it in the log, and goes on with the next


def test_rounding_is_no_disagreement(begun, oracle, chains):
    chains()
    oracle.wrong = 0.001
    assert checking.check_scores(begun).differing == []


def test_a_manager_has_the_pool_scored_anew(begun, project, oracle, chains, django_capture_on_commit_callbacks):
    chains()
    oracle.wrong = 0.01
    with pytest.raises(Forbidden):
        scoring.rescore_pool(by=MembershipFactory(project=project).user, version=begun)
    manager = MembershipFactory(project=project, role="manager").user
    with django_capture_on_commit_callbacks(execute=True):
        assert scoring.rescore_pool(by=manager, version=begun) == 20
    chains()
    assert checking.check_scores(begun).differing == []
    ModelVersion.objects.filter(pk=begun.pk).update(weights_deleted_at="2026-01-01T00:00Z")
    begun.refresh_from_db()
    with pytest.raises(Conflict):
        scoring.rescore_pool(by=manager, version=begun)


def test_a_rescoring_during_the_last_check_is_refused_and_never_left_undone(begun, project, chains, monkeypatch):
    manager = MembershipFactory(project=project, role="manager").user
    refused = []

    def rescore_meanwhile(version):
        with pytest.raises(Conflict) as conflict:
            scoring.rescore_pool(by=manager, version=version)
        refused.append(conflict.value.code)

    monkeypatch.setattr(checking, "check_scores", rescore_meanwhile)
    chains()
    assert refused == ["pool_busy"]
    assert (PoolScoring.objects.get(model_version=begun).state, begun.pool_shards.exists()) == ("done", False)


def test_a_rescoring_before_the_last_check_is_done_and_not_taken_for_done(begun, project, chains, monkeypatch):
    manager = MembershipFactory(project=project, role="manager").user

    @contextmanager
    def rescored_before_the_lock(name, number):
        monkeypatch.setattr(scoring, "advisory_lock", advisory_lock)
        scoring.rescore_pool(by=manager, version=begun)
        with advisory_lock(name, number) as mine:
            yield mine

    monkeypatch.setattr(scoring, "advisory_lock", rescored_before_the_lock)
    chains()
    assert (PoolScoring.objects.get(model_version=begun).state, begun.pool_shards.exists()) == ("done", False)
    assert scored(begun) == pool_of(project)


@pytest.mark.django_db(transaction=True)
def test_two_workers_never_take_the_same_shard(champion, oracle, sent):
    """The second passes over what the first holds, and the first's death gives it back."""
    scoring.begin_scoring(champion)
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT solutions FROM annotation_poolshard ORDER BY id LIMIT 1 FOR UPDATE")
            (held,) = cursor.fetchone()
        while shards.score_slice(champion):
            pass
        assert [s.solutions for s in PoolShard.objects.all()] == [held]
        assert not set(held) & set(oracle.asked)
    finally:
        other.close()  # as for a client that was killed; the server takes a moment to see it
    until(lambda: shards.score_slice(champion) > 0 and not PoolShard.objects.exists())
    assert sorted(oracle.asked) == sorted(pool_of(champion.project))
