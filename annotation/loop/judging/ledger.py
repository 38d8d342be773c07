"""The ledger of a judging run: each call is reserved before it is sent, and settled with its reply.

A reservation is the most that a call may use, so that the budget holds however many calls are in flight and whichever
worker sends them: reservations lock the row of the run. A reply is stored before anything is made of it, so that a
resumed run pays for no call twice. The exception is a call in flight when its worker dies: nobody knows what it cost.
It is lost, counts with its reservation, and is sent again as another call.
"""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.loop.gateway.policies import Prices, Reply
from annotation.loop.judging.replies import storable
from annotation.models import JudgeCall, JudgedSolution, JudgingRun

TEMPLATE_TOKENS = 256  # the most that a chat template, and the kinds of steps, are expected to add to a message
State = JudgeCall.State


def most_prompt_tokens(message: str) -> int:
    """The most tokens that a message can have: tokenisers of bytes have at most one per byte."""
    return len(message.encode()) + TEMPLATE_TOKENS


def prices_at_start(run: JudgingRun) -> Prices:
    return Prices(run.prompt_price, run.completion_price)


@transaction.atomic
def reserve(judged: JudgedSolution, *, prefix: int, samples: int, message: str) -> JudgeCall | None:
    """A call that may be sent, with the most that it can use reserved; None if the budget does not allow it."""
    run = JudgingRun.objects.select_for_update(of=("self",)).get(pk=judged.run_id)
    prompt, completion = most_prompt_tokens(message), samples * run.max_tokens
    cost = prices_at_start(run).cost(prompt, completion)
    if run.token_budget and run.tokens + run.reserved_tokens + prompt + completion > run.token_budget:
        return None
    if run.cost_budget and run.cost + run.reserved_cost + cost > run.cost_budget:
        return None
    run.reserved_tokens += prompt + completion
    run.reserved_cost += cost
    run.save(update_fields=["reserved_tokens", "reserved_cost"])
    return JudgeCall.objects.create(
        judged=judged,
        prefix=prefix,
        attempt=judged.calls.count(),
        samples=samples,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost=cost,
    )


@transaction.atomic
def settle(call: JudgeCall, reply: Reply) -> JudgeCall:
    """Store the reply to a call and what it cost, in place of the reservation."""
    run, call = _locked(call)
    in_flight = call.state == State.SENT  # else another worker took it for lost, and its reservation counts already
    if reply.samples:
        call.state, call.metered = State.ANSWERED, reply.metered and in_flight
    else:
        call.state, call.metered = State.FAILED if reply.metered and in_flight else State.LOST, reply.metered
    if in_flight:
        _free(run, call)
        if reply.metered:
            call.prompt_tokens, call.completion_tokens = reply.prompt_tokens, reply.completion_tokens
            call.cost = prices_at_start(run).cost(call.prompt_tokens, call.completion_tokens)
        _count(run, call)
    run.calls += call.state == State.ANSWERED
    run.save(update_fields=[*LEDGER, "calls"])
    call.replies = [{"text": storable(sample.text), "cut": sample.cut} for sample in reply.samples]
    call.error, call.ended_at = reply.error, timezone.now()
    call.save()
    return call


@transaction.atomic
def lose_calls(run: JudgingRun) -> int:
    """Count the calls in flight of a worker that is gone as lost, with their reservations; returns how many."""
    locked = JudgingRun.objects.select_for_update(of=("self",)).get(pk=run.pk)
    calls = list(JudgeCall.objects.select_for_update(of=("self",)).filter(judged__run=run, state=State.SENT))
    for call in calls:
        _free(locked, call)
        _count(locked, call)
        call.state, call.metered, call.ended_at = State.LOST, False, timezone.now()
    locked.save(update_fields=LEDGER)
    JudgeCall.objects.bulk_update(calls, ["state", "metered", "ended_at"], batch_size=1000)
    return len(calls)


LEDGER = ["prompt_tokens", "completion_tokens", "cost", "reserved_tokens", "reserved_cost"]


def _locked(call: JudgeCall) -> tuple[JudgingRun, JudgeCall]:
    run = JudgingRun.objects.select_for_update(of=("self",)).get(judged__calls=call)
    return run, JudgeCall.objects.select_for_update(of=("self",)).get(pk=call.pk)


def _free(run: JudgingRun, call: JudgeCall) -> None:
    run.reserved_tokens -= call.tokens
    run.reserved_cost -= call.cost


def _count(run: JudgingRun, call: JudgeCall) -> None:
    run.prompt_tokens += call.prompt_tokens
    run.completion_tokens += call.completion_tokens
    run.cost += call.cost


def count_solution(judged: JudgedSolution, field: str) -> None:
    """Count a finished solution of the run under this field, inside the transaction of the work itself.

    It locks the run, which every transaction locks before the rows of its solutions.
    """
    JudgingRun.objects.filter(pk=judged.run_id).update(**{field: F(field) + 1}, heartbeat_at=timezone.now(), attempts=0)
