"""Sampling from a policy: what comes in and with what word of its origin, and how a run ends, whatever happens."""

from contextlib import nullcontext
from datetime import timedelta
from io import StringIO
from unittest.mock import Mock

import msgspec
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone

from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.core.lifecycle import Progress, cancel_job, progress_of, sweep_jobs
from annotation.loop.gateway import policies
from annotation.loop.pool.partitions import create_partition
from annotation.loop.sampling import following, run_body, sampling_runs
from annotation.loop.sampling.policy_preview import preview_sampling
from annotation.loop.sampling.sampling_runs import SamplingPlan, chosen_problems
from annotation.models import AuditEntry, Generation, PoolScore, SampledProblem, SamplingRun, Solution, Step
from prm.answers import grade
from prm.formats.record import Provenance
from tests.factories import AnnotationFactory, ModelVersionFactory, SolutionFactory
from tests.unit.annotation.loop.sampling.conftest import NOWHERE

pytestmark = pytest.mark.django_db


def test_samples_come_in_graded_and_with_their_origin(sample, problems):
    before = Solution.objects.count()
    run = sample()
    assert (run.state, run.done_problems, run.failed_problems) == ("done", problems.count(), 0)
    assert run.sampled == 2 * problems.count() == run.accepted + run.duplicates
    assert run.right + run.wrong + run.ungraded == run.sampled
    assert run.right > 0
    assert run.wrong > 0
    assert run.tokens > run.calls == problems.count()
    new = Solution.objects.filter(generator="sandbox-medium", provenance__run=run.name)
    assert new.count() == run.accepted == Solution.objects.count() - before
    assert Step.objects.filter(solution__in=new).count() > 2 * run.accepted
    one = new.first()
    assert one.origin == Provenance(
        policy="sandbox-medium",
        temperature=0.8,
        seed=1,
        prompt="{problem}",
        visibility="raw",
        run=run.name,
        settings={
            "max_tokens": 1024,
            "endpoint": "sandbox",
            "decomposition": "blank_lines",
            "thinking": "separate",
        },
    )
    assert {one.outcome_source for one in new.exclude(final_answer_correct=None)} == {"grader"}
    assert one.split == one.problem.split


def test_all_samples_are_graded_before_storing_keeps_others_from_importing(sample, monkeypatch):
    calls = Mock()
    for name in ("record_of", "store_chunk"):
        calls.attach_mock(Mock(wraps=getattr(run_body, name)), name)
        monkeypatch.setattr(run_body, name, getattr(calls, name))
    sample(most_problems=3)
    assert [name for name, *_ in calls.mock_calls] == ["record_of"] * 6 + ["store_chunk"] * 3


def test_the_grade_is_that_of_the_reference(sample):
    """Of the sandbox, where an answer that is a number is right if it is the reference's number."""
    run = sample()
    solutions = Solution.objects.filter(provenance__run=run.name).select_related("problem")
    assert solutions
    for solution in solutions:
        assert solution.final_answer_correct == grade(solution.final_answer, solution.problem.reference_answer)


def test_a_kind_that_leads_a_step_is_its_kind(sample):
    run = sample(samples=4)
    steps = Step.objects.filter(solution__provenance__run=run.name)
    assert steps.filter(kind="tool_call").exists()
    assert not steps.filter(text__regex=r"^\[(tool_call|observation|answer)\]").exists()


@pytest.mark.slow
def test_the_same_seed_a_second_time_brings_nothing_new(sample):
    first = sample()
    second = sample()
    assert (second.accepted, second.duplicates) == (0, first.sampled)
    assert second.note == "It added no new solutions."


@pytest.mark.slow
def test_a_run_that_died_between_two_turns_goes_on_and_takes_nothing_in_twice(sandbox, sent, monkeypatch, sample):
    whole = sample(seed=5)
    expected = set(Solution.objects.filter(extra__sampled__run=whole.pk).values_list("content_hash", flat=True))
    Solution.objects.filter(extra__sampled__run=whole.pk).delete()
    run = sampling_runs.create_sampling(by=None, project=sandbox, plan=SamplingPlan("sandbox", samples=2, seed=5))
    commit, turns = run_body._commit, []

    def die_at_the_second(*given):
        turns.append(1)
        if len(turns) == 2:
            raise OperationalError("killed")
        return commit(*given)

    monkeypatch.setattr(run_body, "_commit", die_at_the_second)
    with pytest.raises(OperationalError):
        run_body.run_sampling(run.pk, seconds=None)
    run.refresh_from_db()
    assert (run.state, run.done_problems) == ("running", policies.CONCURRENCY)
    run_body.run_sampling(run.pk, seconds=None)
    run.refresh_from_db()
    assert run.state == "done"
    assert run.sampled == 2 * run.problems
    new = Solution.objects.filter(extra__sampled__run=run.pk)
    assert set(new.values_list("content_hash", flat=True)) == expected


def test_a_turn_ends_in_time_and_asks_for_the_next(sandbox, sent):
    run = sampling_runs.create_sampling(by=None, project=sandbox, plan=SamplingPlan("sandbox", samples=1))
    run_body.run_sampling(run.pk, seconds=0)
    assert sent == [("sampling.run", run.pk)]


def test_only_one_worker_samples(sandbox, sent, monkeypatch):
    run = sampling_runs.create_sampling(by=None, project=sandbox, plan=SamplingPlan("sandbox", samples=1))
    monkeypatch.setattr("annotation.core.lifecycle._seat", lambda model, pk, part: nullcontext(False))
    run_body.run_sampling(run.pk)
    run.refresh_from_db()
    assert run.state == "queued"


def test_cancelling_stops_behind_what_is_asked_and_a_resumed_run_does_the_rest(sandbox, manager, sent):
    run = sampling_runs.start_sampling(by=manager, project=sandbox, plan=SamplingPlan("sandbox", samples=1))
    run_body.run_sampling(run.pk, seconds=0)
    cancel_job(by=manager, job=run)
    run_body.run_sampling(run.pk)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert run.sampled == policies.CONCURRENCY < run.problems
    with pytest.raises(Conflict, match="already ended"):
        cancel_job(by=manager, job=run)
    sampling_runs.resume_sampling(by=manager, job=run)
    run_body.run_sampling(run.pk, seconds=None)
    run.refresh_from_db()
    assert (run.state, run.sampled) == ("done", run.problems)
    with pytest.raises(Conflict, match="has its samples"):
        sampling_runs.resume_sampling(by=manager, job=run)
    actions = AuditEntry.objects.filter(target_type="samplingrun").order_by("pk").values_list("action", flat=True)
    assert list(actions) == [
        "sampling.start", "sampling.cancel", "sampling.cancelled", "sampling.resume", "sampling.done"
    ]  # fmt: skip


def test_one_that_waits_is_cancelled_at_once(sandbox, manager, sent):
    run = sampling_runs.start_sampling(by=manager, project=sandbox, plan=SamplingPlan("sandbox"))
    assert cancel_job(by=manager, job=run).state == "cancelled"


def test_a_run_ends_before_it_exceeds_its_token_budget(sample):
    run = sample(max_tokens=200, token_budget=2000)
    assert run.state == "done"
    assert 0 < run.done_problems < run.problems
    assert run.tokens <= 2000
    assert run.note.startswith(f"{run.tokens:,} of 2,000 tokens are used. The next problem may need ")


def test_a_budget_that_holds_no_problem_is_refused(sandbox):
    with pytest.raises(DomainError, match="Raise the budget") as refused:
        sampling_runs.create_sampling(by=None, project=sandbox, plan=SamplingPlan("sandbox", token_budget=500))
    assert refused.value.extra == {"field": "token_budget"}


@pytest.mark.parametrize(("problems", "failed"), [(1, "1 problem in a row"), (2, "2 problems in a row")])
def test_a_run_of_few_problems_says_how_many_failed(sandbox, sent, settings, monkeypatch, problems, failed):
    monkeypatch.setattr(policies, "RUN_RETRIES", 0)
    settings.POLICY_ENDPOINTS = {"gone": NOWHERE}
    run = sampling_runs.create_sampling(by=None, project=sandbox, plan=SamplingPlan("gone", most_problems=problems))
    run_body.run_sampling(run.pk, seconds=None)
    run.refresh_from_db()
    assert run.error.startswith(f"{failed} failed, the last with: ")


def test_an_endpoint_that_is_away_fails_the_run_with_its_reason_and_the_problems_can_be_asked_again(
    sandbox, manager, sent, settings, monkeypatch
):
    monkeypatch.setattr(policies, "RUN_RETRIES", 0)
    settings.POLICY_ENDPOINTS = {"gone": NOWHERE}
    run = sampling_runs.create_sampling(by=manager, project=sandbox, plan=SamplingPlan("gone"))
    run_body.run_sampling(run.pk, seconds=None)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "127.0.0.1:9" in run.error
    assert run.failed_problems == run.sampled_problems.filter(state="failed").exclude(error="").count() > 0
    settings.POLICY_ENDPOINTS = {"gone": {"url": "sandbox:", "model": "sandbox-weak"}}
    sampling_runs.resume_sampling(by=manager, job=run)
    run_body.run_sampling(run.pk, seconds=None)
    run.refresh_from_db()
    assert (run.state, run.failed_problems, run.done_problems) == ("done", 0, run.problems)


@pytest.mark.slow
def test_a_problem_that_the_policy_refuses_is_counted_with_its_error_and_the_others_come_in(sandbox, sample):
    SolutionFactory(project=sandbox, problem__project=sandbox, problem__text="Who am I?")
    run = sample()
    assert (run.state, run.failed_problems) == ("done", 1)
    failed = run.sampled_problems.get(state="failed")
    assert failed.problem.text == "Who am I?"
    assert "contains no problem" in failed.error


def test_a_sample_that_was_cut_is_refused_and_says_why(sample):
    run = sample(max_tokens=3)
    assert (run.accepted, run.refused) == (0, run.sampled)
    assert run.sampled_problems.first().error == "a sample was truncated at 3 tokens"


def test_problems_are_chosen_as_wished(sandbox, problems):
    first, second = problems[0], problems[1]
    AnnotationFactory(solution=first.solutions.first())
    ids = list(problems.values_list("pk", flat=True))
    chosen = {
        choice: chosen_problems(sandbox, choice=choice, domain="", most=None) for choice in SamplingRun.Choice.values
    }
    assert chosen["all"] == ids
    assert chosen["unlabelled"] == ids[1:]
    counts = [Solution.objects.filter(problem=pk).count() for pk in chosen["fewest"]]
    assert counts == sorted(counts)
    version = ModelVersionFactory(project=sandbox, state="champion")
    create_partition(version)
    for problem, gain in ((second, 0.9), (first, 0.2)):
        PoolScore.objects.create(
            model_version=version, solution=problem.solutions.first(), mean=[0.5], spread=[0.1], score=0.5, gain=gain
        )
    assert chosen_problems(sandbox, choice="uncertain", domain="", most=2) == [second.pk, first.pk]
    domain = first.domain
    assert chosen_problems(sandbox, choice="all", domain=domain, most=None) == list(
        problems.filter(domain=domain).values_list("pk", flat=True)
    )


@pytest.mark.parametrize(
    ("wishes", "code"),
    [
        ({"endpoint": "nobody"}, "unknown_endpoint"),
        ({"samples": 0}, "invalid_sampling"),
        ({"samples": 65}, "invalid_sampling"),
        ({"temperature": float("nan")}, "invalid_sampling"),
        ({"temperature": 3.0}, "invalid_sampling"),
        ({"prompt": "Solve it."}, "invalid_sampling"),
        ({"decomposition": "words"}, "invalid_sampling"),
        ({"choice": "best"}, "invalid_sampling"),
        ({"domain": "poetry"}, "no_problems"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(sandbox, manager, wishes, code):
    plan = msgspec.structs.replace(SamplingPlan("sandbox"), **wishes)
    for service in (lambda: sampling_runs.create_sampling(by=manager, project=sandbox, plan=plan),
                    lambda: preview_sampling(by=manager, project=sandbox, plan=plan)):  # fmt: skip
        with pytest.raises(DomainError) as refused:
            service()
        assert refused.value.code == code
    assert not SamplingRun.objects.exists()


def test_only_a_manager_samples(sandbox):
    with pytest.raises(Forbidden):
        sampling_runs.start_sampling(
            by=User.objects.create_user("stranger"), project=sandbox, plan=SamplingPlan("sandbox")
        )


def test_a_preview_shows_three_and_keeps_nothing(sandbox, manager):
    before = Solution.objects.count()
    shown = preview_sampling(by=manager, project=sandbox, plan=SamplingPlan("sandbox"))
    assert len(shown) == 3
    assert all(one.record.positions and one.record.final_answer_correct in (True, False, None) for one in shown)
    assert Solution.objects.count() == before
    assert not SampledProblem.objects.exists()


def test_a_preview_says_why_there_is_nothing_to_show(sandbox, manager, settings, monkeypatch):
    monkeypatch.setattr(policies, "PREVIEW_RETRIES", 0)
    settings.POLICY_ENDPOINTS = {"gone": NOWHERE}
    shown = preview_sampling(by=manager, project=sandbox, plan=SamplingPlan("gone"))
    assert all("127.0.0.1:9" in one.fault for one in shown)


def test_without_a_model_the_next_generation_opens_at_once(sample):
    run = sample(opens_generation=True)
    assert run.state == "done"
    assert run.generation == Generation.objects.get()


def test_with_a_model_the_next_generation_waits_for_the_scores(sandbox, sample, sent):
    version = ModelVersionFactory(project=sandbox, state="champion")
    create_partition(version)
    run = sample(opens_generation=True)
    assert run.state == "scoring"
    assert ("rounds.score_unscored",) in sent
    assert following.open_generations() == 0
    for solution in Solution.objects.filter(project=sandbox, split="pool"):
        PoolScore.objects.create(model_version=version, solution=solution, mean=[None], spread=[None], unscored_steps=1)
    assert following.open_generations() == 1
    run.refresh_from_db()
    assert run.state == "done"
    assert run.generation.model_version == version
    assert following.open_generations() == 0


def test_one_that_was_cancelled_as_its_samples_ended_opens_no_generation(sandbox, sample):
    """Its worker had looked for the request just before, and let it wait for its scores."""
    ModelVersionFactory(project=sandbox, state="champion")
    run = sample(opens_generation=True)
    SamplingRun.objects.filter(pk=run.pk).update(cancel_requested=True)
    assert following.open_generations() == 0
    run.refresh_from_db()
    assert (run.state, run.generation) == ("cancelled", None)


def test_scores_that_never_come_do_not_hold_the_generation_for_ever(sandbox, sample):
    ModelVersionFactory(project=sandbox, state="champion")
    run = sample(opens_generation=True)
    SamplingRun.objects.filter(pk=run.pk).update(finished_at=timezone.now() - timedelta(hours=2))
    assert following.open_generations() == 1


def test_the_sweep_takes_up_what_nobody_works_on(sandbox, sent):
    run = sampling_runs.create_sampling(by=None, project=sandbox, plan=SamplingPlan("sandbox"))
    assert sweep_jobs() == 0
    SamplingRun.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(hours=1))
    assert sweep_jobs() == 1
    assert sent == [("sampling.run", run.pk)]
    assert sweep_jobs() == 0


def test_progress(sandbox):
    run = SamplingRun(project=sandbox, problems=10, done_problems=4, failed_problems=1, sampled=8, state="running")
    assert progress_of(run) == Progress(0.5, None, None)
    run.started_at = timezone.now() - timedelta(seconds=10)
    run.heartbeat_at = run.started_at + timedelta(seconds=10)
    assert progress_of(run) == Progress(0.5, pytest.approx(0.8), pytest.approx(10))


def test_the_command_samples_and_reports(sandbox, sent):
    out = StringIO()
    call_command("connect_policy", "project", endpoint="sandbox", samples=1, most_problems=4, seed=3, stdout=out)
    run = SamplingRun.objects.get()
    assert f"4 samples of 4 problems from sandbox (sandbox-medium): {run.accepted} new" in out.getvalue()
    assert f"{run.right} right, {run.wrong} wrong, {run.ungraded} not graded" in out.getvalue()
    with pytest.raises(CommandError, match=r"There is no endpoint 'nobody'\. Choose one of: sandbox"):
        call_command("connect_policy", "project", endpoint="nobody")
    with pytest.raises(CommandError, match="There is no project 'nowhere'"):
        call_command("connect_policy", "nowhere", endpoint="sandbox")


THOUGHT = "<think>Is it 5?\n\nNo.</think>\n\nCount them: 4.\n\nThe answer is 4."


@pytest.mark.parametrize(
    ("thinking", "steps", "kept"),
    [
        ("separate", ["Count them: 4.", "The answer is 4."], {"thinking": "Is it 5?\n\nNo."}),
        ("drop", ["Count them: 4.", "The answer is 4."], {}),
        ("keep", ["Is it 5?", "No.", "Count them: 4.", "The answer is 4."], {}),
    ],
)
def test_hidden_reasoning_is_treated_as_chosen_and_the_choice_is_recorded(
    sample, problems, monkeypatch, thinking, steps, kept
):
    monkeypatch.setattr(
        policies.PolicyClient, "_sample", lambda *_: policies.Reply([policies.Sample(THOUGHT, cut=False)], calls=1)
    )
    run = sample(samples=1, thinking=thinking, most_problems=1)
    [solution] = Solution.objects.filter(provenance__run=run.name)
    assert list(solution.steps.order_by("position").values_list("text", flat=True)) == steps
    assert solution.extra == kept
    assert solution.origin.settings["thinking"] == thinking
    assert solution.origin.settings["thinking_characters"] == len("Is it 5?\n\nNo.")


def test_a_sample_that_never_stops_thinking_is_refused_with_the_reason(sample, problems, monkeypatch):
    replies = policies.Reply([policies.Sample("<think>Is it 5?", cut=False)], calls=1)
    monkeypatch.setattr(policies.PolicyClient, "_sample", lambda *_: replies)
    run = sample(samples=1, most_problems=1)
    assert (run.accepted, run.refused) == (0, 1)
    assert "hidden reasoning but no answer" in run.sampled_problems.get().error
