"""The body of a judging run: several calls at a time, each stored before anything is made of it.

Only this thread uses the database. The other threads wait for the endpoint.
"""

import math
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.core.errors import DomainError
from annotation.core.lifecycle import Cancelled, Postponed, beat, run_job, send
from annotation.loop.gateway.policies import CONCURRENCY, PROMPT, SLICE_SECONDS, PolicyClient, Reply, check_answering
from annotation.loop.judging.judge_labels import finish, giving_up, source_of, store_label, submission_of
from annotation.loop.judging.judge_members import record_cost
from annotation.loop.judging.ledger import count_solution, lose_calls, reserve, settle
from annotation.loop.judging.methods import Finished, Hand, Question, next_move
from annotation.models import Annotation, JudgeCall, JudgedSolution, JudgingRun, Lease
from annotation.work.claiming import claim_next
from annotation.work.labelling.payload import Submission
from annotation.work.labelling.submission import submit_annotation
from annotation.work.queue.leases import expire_leases
from prm.messages import Message

LAST_CALLS_SECONDS = 60.0  # for the calls in flight when a run is cancelled; replies after that are lost
PAGE = 100  # waiting solutions read at a time
State = JudgedSolution.State
Mode, Method = JudgingRun.Mode, JudgingRun.Method


def run_judging(run_id: int, *, seconds: float | None = SLICE_SECONDS) -> None:
    """Judge for about `seconds` and enqueue the rest; with None judge to the end.

    Does nothing if another worker runs it, or if it has ended.
    """
    run = run_job(JudgingRun, run_id, lambda run: judge(run, seconds))
    if run is not None and run.state == JudgingRun.State.QUEUED:
        send(run)


def judge(run: JudgingRun, seconds: float | None) -> None:
    """Do the run until its work, its budget or its time ends."""
    lose_calls(run)
    pool = ThreadPoolExecutor(CONCURRENCY)
    worker = _Worker(run, pool)
    try:
        worker.work(seconds)
    except (Cancelled, DomainError):
        worker.take_last()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    run.refresh_from_db(fields=JudgingRun.COUNTS)


@dataclass
class _Worker:
    """Keeps CONCURRENCY calls in flight, at most one for each solution."""

    run: JudgingRun
    pool: ThreadPoolExecutor
    flying: dict[Future[Reply], tuple[Hand, JudgeCall]] = field(default_factory=dict)
    held: deque[Hand] = field(default_factory=deque)  # whose calls the budget does not allow now
    queue_says: str = ""  # why the queue has nothing more for the judge

    def __post_init__(self) -> None:
        run = self.run
        prompt = PROMPT if run.method == Method.JUDGE else run.prompt
        self.client = PolicyClient(
            run.endpoint, prompt=prompt, temperature=run.temperature, max_tokens=run.max_tokens, resend=False
        )
        self.source = source_of(run) if run.mode == Mode.BATCH else None
        self.waiting = self._waiting()

    def work(self, seconds: float | None) -> None:
        until = math.inf if seconds is None else time.monotonic() + seconds
        while True:
            self._send_calls(until)
            if not self.flying:
                break
            self._take_replies(until)
            beat(self.run)
        if time.monotonic() >= until and self._is_left():
            raise Postponed
        self._end()

    def take_last(self) -> None:
        """Store the replies to the calls in flight, so that nobody pays for them again."""
        until = time.monotonic() + LAST_CALLS_SECONDS
        while self.flying and (left := until - time.monotonic()) > 0:
            for future in wait(self.flying, timeout=min(left, 1.0), return_when=FIRST_COMPLETED).done:
                _hand, call = self.flying.pop(future)
                settle(call, future.result())
            JudgingRun.objects.filter(pk=self.run.pk).update(heartbeat_at=timezone.now())

    def _send_calls(self, until: float) -> None:
        while len(self.flying) < CONCURRENCY and time.monotonic() < until:
            beat(self.run)
            hand = self.held.popleft() if self.held else self._next_hand()
            if hand is None:
                return
            if not self._advance(hand):
                self.held.appendleft(hand)
                return

    def _take_replies(self, until: float) -> None:
        for future in wait(self.flying, timeout=1.0, return_when=FIRST_COMPLETED).done:
            hand, call = self.flying.pop(future)
            settle(call, future.result())
            if time.monotonic() >= until or not self._advance(hand):
                self.held.append(hand)

    def _advance(self, hand: Hand) -> bool:
        """Send the next call for the solution, or end with it. False if the budget does not allow the call."""
        move = next_move(hand)
        if isinstance(move, Question):
            return self._send(hand, move)
        if isinstance(move, Finished):
            self._label(hand, move)
        else:
            self._fail(hand, move.error)
        return True

    def _send(self, hand: Hand, question: Question) -> bool:
        call = reserve(hand.judged, prefix=question.prefix, samples=question.samples, message=question.message)
        if call is None:
            return False
        seed = self.run.seed + 1009 * hand.judged.position + call.attempt
        begun = [(step.text, step.kind) for step in question.steps]
        future = self.pool.submit(self.client.request, question.problem, begun, samples=question.samples, seed=seed)
        self.flying[future] = hand, call
        return True

    def _label(self, hand: Hand, finished: Finished) -> None:
        judged = hand.judged
        if self.source is not None:
            store_label(judged, finished.verdict, hand.steps, source=self.source, native=finished.native)
            return
        scheme = self.run.project.label_scheme
        lease = hand.lease.pk if hand.lease else None
        submission = submission_of(judged, finished.verdict, hand.steps, scheme, lease=lease)
        try:
            with transaction.atomic():
                finish(judged, self._submit(submission))
        except DomainError as error:
            self._fail(hand, error.message)

    def _submit(self, submission: Submission) -> Annotation:
        """Submit a label as the machine annotator. Raises as `submit_annotation`."""
        submitted = submit_annotation(by=self._judge, project=self.run.project, submission=submission, by_program=True)
        return submitted.annotation

    def _fail(self, hand: Hand, error: str) -> None:
        judged = hand.judged
        with transaction.atomic():
            count_solution(judged, "failed_solutions")
            judged.state, judged.error = State.FAILED, error
            judged.save(update_fields=["state", "error"])
            if hand.lease:
                self._submit(giving_up(judged, error, lease=hand.lease.pk))
        check_answering(self.run.judged.exclude(state=State.WAITING), of=self.run.judged.count())

    @property
    def _judge(self) -> User:
        """The account of the machine annotator."""
        assert self.run.annotator is not None
        assert self.run.annotator.user is not None
        return self.run.annotator.user

    def _next_hand(self) -> Hand | None:
        """The next solution; None if there is none now."""
        return self._claim() if self.run.mode == Mode.QUEUE else next(self.waiting, None)

    def _waiting(self) -> Iterator[Hand]:
        """The waiting solutions of a batch, in order."""
        after = -1
        rows = self.run.judged.filter(state=State.WAITING).order_by("position")
        rows = rows.select_related("solution__problem").prefetch_related("solution__steps")
        while some := list(rows.filter(position__gt=after)[:PAGE]):
            for judged in some:
                judged.run, after = self.run, judged.position
                yield Hand(judged, judged.solution.sampled_steps)

    def _claim(self) -> Hand | None:
        """A solution from the queue, claimed as the machine annotator."""
        hands = [*self.held, *(hand for hand, _call in self.flying.values())]
        claim = claim_next(
            by=self._judge, project=self.run.project, holding=[hand.lease.pk for hand in hands if hand.lease]
        )
        if claim.lease is None:
            self.queue_says = claim.message
            return None
        solution = claim.lease.solution
        judged, created = JudgedSolution.objects.get_or_create(
            run=self.run, solution=solution, defaults={"position": self.run.solutions}
        )
        if created:
            self.run.solutions += 1
            self.run.save(update_fields=["solutions"])
        judged.run, judged.solution = self.run, solution
        return Hand(judged, solution.sampled_steps, claim.lease)

    def _is_left(self) -> bool:
        return bool(self.held) or self.run.mode == Mode.QUEUE or self.run.judged.filter(state=State.WAITING).exists()

    def _end(self) -> None:
        """Say what ended the run, if it was not its last solution."""
        run = self.run
        for hand in self.held:
            if hand.lease:
                _hand_back(hand.lease)
        run.refresh_from_db(fields=["prompt_tokens", "completion_tokens", "cost"])
        if self.held:
            cost = f"{run.cost:.2f} {run.currency}"
            run.note = Message("judging_budget_spent", tokens=run.tokens, cost=cost)
        else:
            run.note = self.queue_says
        run.save(update_fields=["note"])
        record_cost(run)


def _hand_back(lease: Lease) -> None:
    """Make the solution available to others again; unlike a release, the machine may get it later."""
    Lease.objects.filter(pk=lease.pk, state=Lease.State.ACTIVE).update(expires_at=timezone.now())
    expire_leases(project=lease.item.project)
