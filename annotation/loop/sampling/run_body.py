"""The body of a sampling run: problem by problem, a few at a time, each few one transaction.

What a few problems brought and that they are done is committed together, so a run that was killed goes on with
the problems that are not, and takes nothing in twice.
"""

import time
from collections.abc import Callable, Sequence
from itertools import accumulate

from django.db import transaction
from django.db.models import QuerySet

from annotation.core.errors import DomainError
from annotation.core.lifecycle import Postponed, got_on, heed, run_job, send
from annotation.files.store import store_chunk
from annotation.loop.gateway.policies import CONCURRENCY, AskedPolicy, Reply
from annotation.loop.sampling.following import follow
from annotation.loop.sampling.policy_records import record_of
from annotation.loop.sampling.sampling_runs import most_tokens
from annotation.models import Problem, SampledProblem, SamplingRun
from prm.formats.record import Record, Rejection
from prm.messages import Message, joined

SLICE_SECONDS = 20.0  # a task's turn; other tasks of the queue come between two turns
FAILURES_IN_A_ROW = 10  # problems; then the endpoint is taken for away
Chosen = SampledProblem.State
Tell = Callable[[SamplingRun], None]


def run_sampling(run_id: int, *, seconds: float | None = SLICE_SECONDS, on_progress: Tell = lambda run: None) -> None:
    """Sample for about `seconds` and enqueue the rest; None goes on to the end.

    Does nothing if another worker is at it, or if it has ended.
    """
    run = run_job(SamplingRun, run_id, lambda run: _sample(run, seconds, on_progress))
    if run is not None and run.state == SamplingRun.State.QUEUED:
        send(run)


def _sample(run: SamplingRun, seconds: float | None, on_progress: Tell) -> None:
    started = time.monotonic()
    policy = AskedPolicy(run.endpoint, prompt=run.prompt, temperature=run.temperature, max_tokens=run.max_tokens)
    some = _next(run)
    while some:
        _commit(run, some, _ask(run, policy, some))
        on_progress(run)
        heed(run)
        some = _next(run)
        if some and seconds is not None and time.monotonic() - started >= seconds:
            raise Postponed
    follow(run, note=_why_it_ended(run))


def _next(run: SamplingRun) -> list[SampledProblem]:
    """The next few problems, as many as the budget holds at their dearest. Raises DomainError (`policy_away`)."""
    if failed := _failed_in_a_row(run):
        away = Message("problems_failed_in_a_row", n=len(failed), error=failed[0])
        raise DomainError("policy_away", away)
    some = list(_waiting(run)[:CONCURRENCY])
    if not run.token_budget:
        return some
    reserved = accumulate(_most_tokens(run, one) for one in some)
    return [one for one, tokens in zip(some, reserved, strict=True) if run.tokens + tokens <= run.token_budget]


def _waiting(run: SamplingRun) -> QuerySet[SampledProblem]:
    return run.sampled_problems.filter(state=Chosen.WAITING).select_related("problem").order_by("position")


def _most_tokens(run: SamplingRun, one: SampledProblem) -> int:
    return most_tokens(one.problem.text, prompt=run.prompt, samples=run.samples, max_tokens=run.max_tokens)


def _why_it_ended(run: SamplingRun) -> str:
    """Empty unless the budget left problems out."""
    left_out = _waiting(run).first()
    if left_out is None:
        return ""
    return Message("sampling_budget_spent", spent=run.tokens, budget=run.token_budget, most=_most_tokens(run, left_out))


def _ask(run: SamplingRun, policy: AskedPolicy, some: Sequence[SampledProblem]) -> Sequence[Reply]:
    return policy.ask(
        [one.problem.text for one in some],
        samples=run.samples,
        seeds=[run.seed + one.position for one in some],
    )


@transaction.atomic
def _commit(run: SamplingRun, some: Sequence[SampledProblem], replies: Sequence[Reply]) -> None:
    """Store what came with the progress it makes."""
    for one, reply in zip(some, replies, strict=True):
        _take(run, one, reply)
    got_on(
        run, "done_problems", "failed_problems", "sampled", "accepted", "duplicates", "refused", "right", "wrong",
        "ungraded", "calls", "prompt_tokens", "completion_tokens",
    )  # fmt: skip


def _take(run: SamplingRun, one: SampledProblem, reply: Reply) -> None:
    """One problem's samples into the project."""
    run.calls += reply.calls
    run.prompt_tokens += reply.prompt_tokens
    run.completion_tokens += reply.completion_tokens
    if reply.error:
        run.failed_problems += 1
        one.state, one.error = Chosen.FAILED, reply.error
        one.save(update_fields=["state", "error"])
        return
    records, refusals = _sorted_out(run, one.problem, reply)
    counts = store_chunk(project=run.project, records=records)
    grades = [record.final_answer_correct for record in records]
    run.done_problems += 1
    run.sampled += len(reply.samples)
    run.accepted += counts.accepted
    run.duplicates += counts.duplicates
    run.refused += len(refusals)
    run.right += grades.count(True)
    run.wrong += grades.count(False)
    run.ungraded += grades.count(None)
    one.state, one.accepted = Chosen.DONE, counts.accepted
    one.error = joined(
        sorted({Message("sample_rejected", reason=refusal.reason) for refusal in refusals}), "semicolon_list"
    )
    one.save(update_fields=["state", "accepted", "error"])


def _sorted_out(run: SamplingRun, problem: Problem, reply: Reply) -> tuple[list[Record], list[Rejection]]:
    made = [record_of(run, problem, sample, number) for number, sample in enumerate(reply.samples)]
    return [one for one in made if isinstance(one, Record)], [one for one in made if isinstance(one, Rejection)]


def _failed_in_a_row(run: SamplingRun) -> list[str]:
    """The errors of the last problems asked, the latest first, if so many failed that the policy must be away."""
    asked = run.sampled_problems.exclude(state=Chosen.WAITING).order_by("-position")
    last = list(asked.values_list("state", "error")[:FAILURES_IN_A_ROW])
    away = len(last) == min(FAILURES_IN_A_ROW, run.problems) and all(state == Chosen.FAILED for state, _ in last)
    return [error for _, error in last] if away else []
