"""The body of a sampling run: a few problems at a time.

The solutions of these problems and their states are committed together, so that a killed run resumes with the
unfinished problems and imports nothing twice.
"""

import time
from collections.abc import Callable, Sequence
from itertools import accumulate

from django.db import transaction
from django.db.models import QuerySet

from annotation.core.lifecycle import Postponed, raise_if_cancelled, run_job, save_progress, send
from annotation.files.store import store_chunk
from annotation.loop.gateway.policies import CONCURRENCY, SLICE_SECONDS, PolicyClient, Reply, check_answering
from annotation.loop.sampling.following import follow
from annotation.loop.sampling.policy_records import record_of
from annotation.loop.sampling.sampling_runs import most_tokens
from annotation.models import SampledProblem, SamplingRun
from prm.formats.record import Record, Rejection
from prm.messages import Message, joined

State = SampledProblem.State
OnProgress = Callable[[SamplingRun], None]


def run_sampling(
    run_id: int, *, seconds: float | None = SLICE_SECONDS, on_progress: OnProgress = lambda run: None
) -> None:
    """Sample for about `seconds` and enqueue the rest; with None sample to the end.

    Does nothing if another worker runs it, or if it has ended.
    """
    run = run_job(SamplingRun, run_id, lambda run: _sample(run, seconds, on_progress))
    if run is not None and run.state == SamplingRun.State.QUEUED:
        send(run)


def _sample(run: SamplingRun, seconds: float | None, on_progress: OnProgress) -> None:
    started = time.monotonic()
    policy = PolicyClient(run.endpoint, prompt=run.prompt, temperature=run.temperature, max_tokens=run.max_tokens)
    some = _next(run)
    while some:
        replies = policy.sample(
            [chosen.problem.text for chosen in some],
            samples=run.samples,
            seeds=[run.seed + chosen.position for chosen in some],
        )
        _commit(run, some, replies)
        on_progress(run)
        raise_if_cancelled(run)
        some = _next(run)
        if some and seconds is not None and time.monotonic() - started >= seconds:
            raise Postponed
    unsampled = _waiting(run).first()
    if unsampled is None:
        follow(run)
    else:
        most = _most_tokens(run, unsampled)
        follow(run, note=Message("sampling_budget_spent", spent=run.tokens, budget=run.token_budget, most=most))


def _next(run: SamplingRun) -> list[SampledProblem]:
    """The next few problems, as many as the budget allows at their longest. Raises DomainError (`policy_away`)."""
    check_answering(run.sampled_problems.exclude(state=State.WAITING), of=run.problems)
    some = list(_waiting(run)[:CONCURRENCY])
    if not run.token_budget:
        return some
    reserved = accumulate(_most_tokens(run, chosen) for chosen in some)
    return [chosen for chosen, tokens in zip(some, reserved, strict=True) if run.tokens + tokens <= run.token_budget]


def _waiting(run: SamplingRun) -> QuerySet[SampledProblem]:
    return run.sampled_problems.filter(state=State.WAITING).select_related("problem").order_by("position")


def _most_tokens(run: SamplingRun, chosen: SampledProblem) -> int:
    return most_tokens(chosen.problem.text, prompt=run.prompt, samples=run.samples, max_tokens=run.max_tokens)


def _commit(run: SamplingRun, some: Sequence[SampledProblem], replies: Sequence[Reply]) -> None:
    """Store the replies and the run's progress together.

    Grading may take long. It comes before the transaction, in which nobody else may import into the project.
    """
    results = [
        [record_of(run, chosen.problem, sample, number) for number, sample in enumerate(reply.samples)]
        for chosen, reply in zip(some, replies, strict=True)
    ]
    with transaction.atomic():
        for chosen, reply, of_samples in zip(some, replies, results, strict=True):
            _import_reply(run, chosen, reply, of_samples)
        save_progress(
            run, "done_problems", "failed_problems", "sampled", "accepted", "duplicates", "refused", "right", "wrong",
            "ungraded", "calls", "prompt_tokens", "completion_tokens",
        )  # fmt: skip


def _import_reply(
    run: SamplingRun, chosen: SampledProblem, reply: Reply, results: Sequence[Record | Rejection]
) -> None:
    """Import the samples of one problem, or record its error."""
    run.calls += reply.calls
    run.prompt_tokens += reply.prompt_tokens
    run.completion_tokens += reply.completion_tokens
    if reply.error:
        run.failed_problems += 1
        chosen.state, chosen.error = State.FAILED, reply.error
        chosen.save(update_fields=["state", "error"])
        return
    records = [result for result in results if isinstance(result, Record)]
    rejections = [result for result in results if isinstance(result, Rejection)]
    counts = store_chunk(project=run.project, records=records, are_samples=True)
    grades = [record.final_answer_correct for record in records]
    run.done_problems += 1
    run.sampled += len(reply.samples)
    run.accepted += counts.accepted
    run.duplicates += counts.duplicates
    run.refused += len(rejections)
    run.right += grades.count(True)
    run.wrong += grades.count(False)
    run.ungraded += grades.count(None)
    chosen.state, chosen.accepted = State.DONE, counts.accepted
    chosen.error = joined(
        sorted({Message("sample_rejected", reason=rejection.reason) for rejection in rejections}), "semicolon_list"
    )
    chosen.save(update_fields=["state", "accepted", "error"])
