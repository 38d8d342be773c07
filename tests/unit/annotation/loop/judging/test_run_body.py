"""Judging: what is labelled and by whom, what is paid, and how a run ends, whatever happens."""

import threading
import time
from decimal import Decimal

import pytest
from django.db import connection
from django.db.models import Count

from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.files.record_import import import_records
from annotation.loop.gateway import policies
from annotation.loop.gateway.sandbox import Sandbox
from annotation.loop.judging import run_body
from annotation.loop.judging.judging_runs import JudgingPlan, estimate_judging, resume_judging, start_judging
from annotation.loop.judging.ledger import TEMPLATE_TOKENS
from annotation.loop.judging.templates import TEMPLATES
from annotation.loop.resuming import can_resume
from annotation.models import Annotation, AuditEntry, JudgeCall, JudgedSolution, JudgingRun, Membership, StepRating
from tests.factories import AnnotationFactory, GenerationFactory, MembershipFactory, QueueItemFactory, SolutionFactory
from tests.fake_endpoint import COMPLETION_TOKENS, PROMPT_TOKENS
from tests.unit.annotation.loop.judging.conftest import work

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    """The worker's process is gone."""


def ratings_of(label):
    rows = StepRating.objects.filter(annotation=label).order_by("step__position")
    return list(rows.values_list("rating", flat=True))


def spent(run):
    """Tokens and cost by the calls themselves."""
    calls = JudgeCall.objects.filter(judged__run=run)
    return sum(call.tokens for call in calls), sum(call.cost for call in calls)


def test_a_judge_labels_a_selection_as_a_machine(project, solutions, judge, endpoint):
    run = judge()
    assert (run.state, run.labelled, run.failed_solutions, run.calls) == ("done", 4, 0, 4)
    assert run.tokens == 4 * (PROMPT_TOKENS + COMPLETION_TOKENS)
    assert run.cost == Decimal("0.0012")  # 400 prompt tokens at 1 and 80 completion tokens at 10 per million
    assert spent(run) == (run.tokens, run.cost)
    assert (run.reserved_tokens, run.reserved_cost) == (0, 0)
    labels = Annotation.objects.all()
    assert {label.source.kind for label in labels} == {"model_judge"}
    assert {(label.annotator, label.source) for label in labels} == {(run.annotator, run.annotator.machine.source)}
    machine = run.annotator.machine
    assert (run.annotator.kind, machine.model_name, machine.prompt_version) == (
        "machine",
        "fake-judge",
        "first_error/1",
    )
    assert machine.cost_per_label == pytest.approx(0.0003)
    assert {(label.finish_reason, label.first_error, label.counted) for label in labels} == {("found_error", 1, False)}
    assert [ratings_of(label) for label in labels] == [[1, -1]] * 4
    message = endpoint.messages[0]
    assert solutions[0].problem.text in message
    assert "<step_1>\n4 + 1 = 6.\n</step_1>" in message
    actions = AuditEntry.objects.filter(target_type="judgingrun").order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["judging.start", "judging.done"]


def test_what_measures_is_left_out_and_counted(project, solutions, start):
    project.gold_answers.create(solution=solutions[0], annotation=AnnotationFactory(solution=solutions[0]))
    for split in ("holdout", "calibration"):
        SolutionFactory(project=project, problem__split=split)
    run = start()
    assert (run.solutions, run.left_out) == (3, {"holdout": 1, "calibration": 1, "gold": 1})


def test_the_same_judge_labels_a_solution_once_and_another_prompt_is_another_judge(solutions, judge):
    first = judge()
    with pytest.raises(DomainError, match="No solution is left"):
        judge()
    changed = judge(prompt="Look well.\n{problem}\n{steps}")
    assert changed.annotator != first.annotator
    assert first.prompt_version == "first_error/1"
    assert changed.prompt_version.startswith("first_error/")
    assert Annotation.objects.count() == 8


def test_a_critic_states_its_reasons(solutions, judge, endpoint):
    entries = '{"step": 0, "rating": 1}, {"step": 1, "rating": -1, "reason": "It is 5."}, {"step": 2, "rating": 0}'
    endpoint.script = lambda request, number: f'{{"steps": [{entries}]}}'
    judge(template="critic")
    rating = StepRating.objects.filter(rating=-1).first()
    assert rating.comment == "It is 5."


def test_a_reply_that_cannot_be_read_is_asked_for_once_more_and_kept(solutions, judge, endpoint):
    endpoint.script = lambda request, number: "I am not sure.…" if number < 2 else "\\boxed{-1}"
    run = judge()
    assert (run.labelled, run.calls) == (4, 6)
    assert sum("An earlier reply could not be used: The reply reached" in message for message in endpoint.messages) == 2
    endpoint.script = lambda request, number: "Who knows."
    failed = judge(template="every_step")
    assert (failed.labelled, failed.failed_solutions, failed.state) == (0, 4, "failed")
    assert "nor the one to a reminder: The reply has no verdict" in failed.judged.first().error
    assert [call.texts for call in failed.judged.first().calls.all()] == [["Who knows."], ["Who knows."]]


def test_rollouts_estimate_each_prefix(project, solutions, judge, endpoint):
    """The first step is right: half of its rollouts reach 5. No rollout recovers from the second."""
    endpoint.script = lambda request, number: (
        ["Then 5.\n\nThe answer is 6."] * 4
        if "4 + 1 = 6." in request["messages"][1]["content"]
        else ["4 + 1 = 5.\n\nThe answer is 5."] * 2 + ["The answer is 7."] * 2
    )
    solutions[3].problem.reference_answer = ""
    solutions[3].problem.save()
    run = judge("monte_carlo", rollouts=4)
    assert (run.state, run.labelled, run.calls, run.left_out) == ("done", 3, 6, {"no_reference": 1})
    label = Annotation.objects.first()
    assert (label.source.kind, label.source.name, label.annotator) == ("monte_carlo", "fake-judge, 4 rollouts", None)
    assert label.source.detail == {"policy": "fake-judge", "rollouts": 4}
    assert label.native["shares"] == [0.5, 0.0, 0.0]
    assert (ratings_of(label), label.first_error) == ([1, -1], 1), "the project's labels stop at the first error"
    assert {call.right for call in JudgeCall.objects.filter(prefix=1)} == {2}


def test_a_search_for_the_first_error_saves_rollouts(solutions, judge, endpoint):
    endpoint.script = lambda request, number: "The answer is 6."
    run = judge("monte_carlo", rollouts=1, search="first")
    assert (run.labelled, run.calls) == (4, 4)
    assert Annotation.objects.first().native["shares"] == [0.0, None, 0.0]


def test_a_server_that_ignores_n_is_asked_until_there_are_enough_rollouts(solutions, judge, endpoint):
    endpoint.script = lambda request, number: "The answer is 5."
    run = judge("monte_carlo", rollouts=3, search="first")
    assert run.calls == 4 * 2 * 3
    assert [request["n"] for request in endpoint.requests[:4]] == [3] * 4


def test_a_busy_server_is_asked_again_and_costs_nothing(solutions, judge, endpoint):
    endpoint.script = lambda request, number: 429 if number < 3 else "\\boxed{1}"
    run = judge()
    assert (run.labelled, run.calls, len(endpoint.requests)) == (4, 4, 7)
    assert run.tokens == 4 * (PROMPT_TOKENS + COMPLETION_TOKENS)


def test_a_call_without_an_answer_counts_with_the_most_it_may_have_cost(solutions, judge, endpoint):
    endpoint.script = lambda request, number: None if number == 0 else "\\boxed{1}"
    run = judge()
    [lost] = JudgeCall.objects.filter(state="lost")
    assert (run.labelled, run.calls, endpoint.answered) == (4, 4, 4)
    assert (lost.metered, lost.completion_tokens) == (False, run.max_tokens)
    assert lost.prompt_tokens == len(endpoint.messages[0].encode()) + TEMPLATE_TOKENS
    assert run.tokens == 4 * (PROMPT_TOKENS + COMPLETION_TOKENS) + lost.tokens
    assert spent(run) == (run.tokens, run.cost)


def test_a_server_that_reports_no_tokens_counts_at_the_most(solutions, judge, endpoint):
    endpoint.usage = False
    run = judge()
    assert run.completion_tokens == 4 * run.max_tokens
    assert set(JudgeCall.objects.values_list("metered", flat=True)) == {False}


def test_ten_failures_in_a_row_end_the_run(project, solutions, start, endpoint, monkeypatch):
    monkeypatch.setattr(policies, "RUN_RETRIES", 0)
    for _ in range(20):
        SolutionFactory(project=project)
    endpoint.script = lambda request, number: 500
    run = work(start())
    assert (run.state, run.failure) == ("failed", "policy_away")
    assert 10 <= len(endpoint.requests) < 24
    assert (run.tokens, run.reserved_tokens) == (0, 0)


def test_a_budget_in_money_is_never_exceeded(manager, solutions, judge):
    run = judge(cost_budget=0.006)
    assert (run.state, run.labelled) == ("done", 4)
    tight = judge(template="every_step", prompt="{problem} {steps}", cost_budget=0.004)
    assert tight.note.startswith("The budget allows no further call: ")
    assert tight.cost <= Decimal("0.004")
    assert 0 < tight.calls < 8
    assert not can_resume(tight)
    with pytest.raises(Conflict, match="Start another run"):
        resume_judging(by=manager, job=tight)
    tight.refresh_from_db()
    assert tight.state == "done"
    reviewer = MembershipFactory(project=tight.project, role=Membership.Role.REVIEWER)
    with pytest.raises(Forbidden):
        resume_judging(by=reviewer.user, job=tight)


def test_a_killed_worker_pays_for_no_reply_twice(solutions, start, endpoint, monkeypatch):
    run = start()
    store, stored = run_body.store_label, []

    def die_at_the_third(*args, **named):
        stored.append(1)
        if len(stored) == 3:
            raise Killed
        store(*args, **named)

    monkeypatch.setattr(run_body, "store_label", die_at_the_third)
    with pytest.raises(Killed):
        work(run)
    while endpoint.flying:
        time.sleep(0.01)
    settled = JudgeCall.objects.filter(state="answered").count()
    assert settled >= 3
    assert Annotation.objects.count() == 2
    monkeypatch.setattr(run_body, "store_label", store)
    run = work(run)
    assert (run.state, run.labelled) == ("done", 4)
    lost = JudgeCall.objects.filter(state="lost").count()
    assert len(endpoint.requests) == 4 + lost, "only calls in flight at the death were sent again"
    assert lost <= policies.CONCURRENCY
    assert lost == 4 - settled
    assert spent(run) == (run.tokens, run.cost)


def test_a_cancelled_run_keeps_the_replies_in_flight(manager, solutions, start, endpoint, monkeypatch):
    endpoint.script = lambda request, number: time.sleep(1.5) or "\\boxed{1}"
    beat = run_body.beat

    def cancel_all_in_flight(job):
        if endpoint.flying == 4:
            JudgingRun.objects.filter(pk=job.pk).update(cancel_requested=True)
        beat(job)

    monkeypatch.setattr(run_body, "beat", cancel_all_in_flight)
    run = work(start())
    assert (run.state, run.calls, run.labelled) == ("cancelled", 4, 0)
    resume_judging(by=manager, job=run)
    endpoint.script = lambda request, number: 500
    run = work(run)
    assert (run.state, run.labelled, len(endpoint.requests)) == ("done", 4, 4)


def test_a_resumed_run_judges_failed_solutions_again(manager, solutions, judge, endpoint):
    endpoint.script = lambda request, number: "Who knows." if "time 3?" in str(request) else "\\boxed{1}"
    run = judge()
    assert (run.state, run.labelled, run.failed_solutions) == ("done", 3, 1)
    assert can_resume(run)
    endpoint.script = lambda request, number: "\\boxed{-1}"
    resume_judging(by=manager, job=run)
    run = work(run)
    assert (run.state, run.labelled, run.failed_solutions, run.calls) == ("done", 4, 0, 6)
    assert not can_resume(run)
    with pytest.raises(Conflict, match="Every solution"):
        resume_judging(by=manager, job=run)


def test_the_queue_is_judged_until_nothing_is_left(project, solutions, start, endpoint):
    generation = GenerationFactory(project=project)
    for solution in solutions:
        QueueItemFactory(solution=solution, generation=generation, taker="machine", route="judge")
    endpoint.script = lambda request, number: "Who knows." if "time 3?" in str(request) else "\\boxed{1}"
    run = work(start(mode="queue"))
    assert (run.state, run.solutions, run.labelled, run.failed_solutions) == ("done", 4, 3, 1)
    assert set(Annotation.objects.values_list("source__kind", "counted")) == {("model_judge", True)}
    given_up = solutions[3].annotations.get()
    assert (given_up.finish_reason, given_up.first_error) == ("give_up", None)
    assert "no verdict" in given_up.reason
    assert not can_resume(run)
    JudgingRun.objects.update(state="cancelled")
    assert can_resume(JudgingRun.objects.get())


def test_a_judge_that_cannot_answer_the_scheme_takes_nothing_from_the_queue(project, solutions, start):
    project.scheme = {"stop_at_first_error": False}
    project.save()
    with pytest.raises(DomainError, match="rate every step"):
        start(mode="queue")
    project.scheme = {"critique": "written"}
    project.save()
    with pytest.raises(DomainError, match="asks annotators for more"):
        start(mode="queue")
    start(mode="queue", template="critic")


@pytest.mark.parametrize(
    ("wishes", "field"),
    [
        ({"method": "guess"}, "method"),
        ({"template": "poem"}, "template"),
        ({"prompt": "{problem}"}, "prompt"),
        ({"prompt": "{problem} {steps} {steps}"}, "prompt"),
        ({"temperature": float("nan")}, "temperature"),
        ({"rollouts": 0}, "rollouts"),
        ({"threshold": 1.0}, "threshold"),
        ({"method": "monte_carlo", "mode": "queue"}, "mode"),
    ],
)
def test_a_wrong_plan_is_refused_at_its_field(project, start, wishes, field):
    with pytest.raises(DomainError) as refused:
        start(**wishes)
    assert (refused.value.code, refused.value.extra) == ("invalid_judging", {"field": field})


def test_a_budget_in_money_needs_prices(project, solutions, start, endpoint, settings):
    settings.POLICY_ENDPOINTS = {"judge": endpoint.entry()}
    with pytest.raises(DomainError, match="has no prices"):
        start(cost_budget=1.0)


def test_the_estimate_learns_from_earlier_replies(project, manager, solutions, judge):
    plan = JudgingPlan("judge", "judge", max_tokens=200, prompt="Well: {problem} {steps}")
    before = estimate_judging(by=manager, project=project, plan=plan)
    assert (before.solutions, before.calls, before.from_limit) == (4, 4, True)
    assert before.completion_tokens == 4 * 200
    judge()
    after = estimate_judging(by=manager, project=project, plan=plan)
    assert (after.from_limit, after.completion_tokens) == (False, 4 * COMPLETION_TOKENS)
    rollouts = JudgingPlan("monte_carlo", "judge", rollouts=8, search="bisect")
    assert estimate_judging(by=manager, project=project, plan=rollouts).calls == 4 * 2


@pytest.mark.slow
def test_the_sandbox_judges_and_rolls_out_its_own_solutions(project, manager, sent, settings):
    import_records(project=project, records=Sandbox(solutions=12, seed=0).records(), by=manager)
    settings.POLICY_ENDPOINTS = {
        name: {"url": "sandbox:", "model": model}
        for name, model in (("judge", "sandbox-judge"), ("policy", "sandbox-strong"))
    }
    plans = [JudgingPlan("judge", "judge", template=template) for template in TEMPLATES]
    plans.append(JudgingPlan("monte_carlo", "policy", rollouts=2, search="bisect"))
    for plan in plans:
        run = work(start_judging(by=manager, project=project, plan=plan))
        assert (run.state, run.labelled, run.failed_solutions) == ("done", run.solutions, 0)
    by_source = Annotation.objects.values_list("source__kind").annotate(n=Count("pk"))
    assert dict(by_source) == {"model_judge": 3 * run.solutions, "monte_carlo": run.solutions}


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_never_exceed_the_budget(project, solutions, start, endpoint):
    """Without the lock of the job, as if a worker had lost it: the ledger alone holds the budget."""
    for number in range(12):
        SolutionFactory(project=project, problem=solutions[number % 4].problem)
    endpoint.script = lambda request, number: time.sleep(0.02) or "\\boxed{1}"
    budget = 6000
    run = start(token_budget=budget)
    most = []

    def watch(request, number):
        most.append(JudgingRun.objects.values_list("reserved_tokens", "prompt_tokens", "completion_tokens").get())
        connection.close()
        return "\\boxed{1}"

    endpoint.script = watch

    def judge_alone():
        run_body.judge(JudgingRun.objects.select_related("project").get(pk=run.pk), None)
        connection.close()

    workers = [threading.Thread(target=judge_alone) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    run.refresh_from_db()
    assert max(map(sum, most)) <= budget
    assert run.tokens <= budget
    assert endpoint.answered * (PROMPT_TOKENS + COMPLETION_TOKENS) <= run.tokens
    assert spent(run) == (run.tokens, run.cost)
    assert JudgedSolution.objects.filter(state="done").count() == Annotation.objects.count()
