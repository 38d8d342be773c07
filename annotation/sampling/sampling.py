"""The body of a sampling run: problem by problem, a few at a time, each few one transaction.

What a few problems brought and that they are done is committed together, so a run that was killed goes on with
the problems that are not, and takes nothing in twice.
"""

import time
from collections.abc import Callable, Sequence

from django.db import transaction
from django.utils import timezone

from annotation.formats.record import Record, Rejection
from annotation.intake.store import store_chunk
from annotation.jobs import enqueue, sole_worker
from annotation.models import Problem, SampledProblem, SamplingRun
from annotation.rounds.gateway.policies import CONCURRENCY, AskedPolicy, Reply
from annotation.sampling.following import follow
from annotation.sampling.records import record_of
from annotation.sampling.runs import TASK, State, end_sampling

SLICE_SECONDS = 20.0  # a task's turn; other tasks of the queue come between two turns
FAILURES_IN_A_ROW = 10  # problems; then the endpoint is taken for away
LOCK = 0x5374_6570 + 2  # the class of the advisory locks taken here; the key is the run
Chosen = SampledProblem.State
Tell = Callable[[SamplingRun], None]


def run_sampling(run_id: int, *, seconds: float | None = SLICE_SECONDS, on_progress: Tell = lambda run: None) -> None:
    """Sample for about `seconds` and enqueue the rest; None goes on to the end.

    Does nothing if another worker is at it, or if it has ended.
    """
    with sole_worker(LOCK, run_id) as alone:
        run = _begin(run_id) if alone else None
        if run is None:
            return
        started = time.monotonic()
        policy = AskedPolicy(run.endpoint, prompt=run.prompt, temperature=run.temperature, max_tokens=run.max_tokens)
        while more := _ask_some(run, policy):
            on_progress(run)
            if seconds is not None and time.monotonic() - started >= seconds:
                break
    if more:
        enqueue(TASK, run_id)


@transaction.atomic
def _begin(run_id: int) -> SamplingRun | None:
    run = SamplingRun.objects.select_for_update(of=("self",)).select_related("project").get(pk=run_id)
    if run.state not in SamplingRun.SAMPLED_FROM:
        return None
    if run.cancel_requested:
        end_sampling(run, State.CANCELLED)
        return None
    now = timezone.now()
    run.state, run.heartbeat_at, run.started_at = State.RUNNING, now, run.started_at or now
    run.save(update_fields=["state", "heartbeat_at", "started_at"])
    return run


def _ask_some(run: SamplingRun, policy: AskedPolicy) -> bool:
    """Ask the policy about the next few problems and keep what it says; False where the run has ended."""
    waiting = run.sampled_problems.filter(state=Chosen.WAITING).select_related("problem").order_by("position")
    some = list(waiting[:CONCURRENCY])
    if not some:
        follow(run)
        return False
    replies = policy.ask(
        [one.problem.text for one in some],
        samples=run.samples,
        seeds=[run.seed + one.position for one in some],
    )
    return _commit(run, some, replies)


@transaction.atomic
def _commit(run: SamplingRun, some: Sequence[SampledProblem], replies: Sequence[Reply]) -> bool:
    """Store what came with the progress it makes; False where the run has ended, and why is noted."""
    cancelled = SamplingRun.objects.select_for_update().values_list("cancel_requested", flat=True).get(pk=run.pk)
    for one, reply in zip(some, replies, strict=True):
        _take(run, one, reply)
    run.heartbeat_at = timezone.now()
    run.save(
        update_fields=[
            "done_problems", "failed_problems", "sampled", "accepted", "duplicates", "refused", "right", "wrong",
            "ungraded", "calls", "prompt_tokens", "completion_tokens", "heartbeat_at",
        ]
    )  # fmt: skip
    if cancelled:
        end_sampling(run, State.CANCELLED)
        return False
    if error := _is_away(run):
        end_sampling(run, State.FAILED, error=f"{FAILURES_IN_A_ROW} problems in a row failed, the last with: {error}")
        return False
    if run.token_budget and run.tokens >= run.token_budget:
        follow(run, note=f"The budget of {run.token_budget:,} tokens is spent.")
        return False
    return True


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
    one.error = "; ".join(sorted({f"a sample {refusal.reason}" for refusal in refusals}))
    one.save(update_fields=["state", "accepted", "error"])


def _sorted_out(run: SamplingRun, problem: Problem, reply: Reply) -> tuple[list[Record], list[Rejection]]:
    made = [record_of(run, problem, sample, number) for number, sample in enumerate(reply.samples)]
    return [one for one in made if isinstance(one, Record)], [one for one in made if isinstance(one, Rejection)]


def _is_away(run: SamplingRun) -> str:
    """The last error, where the last problems asked all failed; else empty."""
    asked = run.sampled_problems.exclude(state=Chosen.WAITING).order_by("-position")
    last = list(asked.values_list("state", "error")[:FAILURES_IN_A_ROW])
    away = len(last) == min(FAILURES_IN_A_ROW, run.problems) and all(state == Chosen.FAILED for state, _ in last)
    return last[0][1] if away else ""
