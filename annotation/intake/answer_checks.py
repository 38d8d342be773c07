"""The grader over the solutions that are in a project already: their outcomes filled, and disagreements listed.

It goes through solutions by id, chunk by chunk; a chunk's outcomes and the progress are committed together, so a check
that was killed goes on where it was. Run again, it changes nothing.
"""

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import audit
from annotation.errors import Conflict
from annotation.jobs import enqueue, sole_worker
from annotation.membership.access import require_role
from annotation.models import AnswerCheck, Membership, OutcomeDisagreement, Project, Solution, Step
from annotation.rounds.gateway.answers import Answered, answer_in, grade_answers

TASK = "intake.check_answers"
LOCK = 0x5374_6570 + 7  # the class of the advisory locks taken here; the key is the check
CHUNK = 200
SECONDS = 60.0  # of algebra for a chunk; what is left stays unknown
STALLED_AFTER = timedelta(minutes=3)
GRADER = Solution.OutcomeSource.GRADER


@transaction.atomic
def start_answer_check(*, by: User | None, project: Project, overwrite: bool = False) -> AnswerCheck:
    """Let a worker grade the answers of a project. `by` is None for the operator of the machine.

    Raises Forbidden, Conflict (`check_running`, `no_references`).
    """
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    Project.objects.select_for_update().get(pk=project.pk)
    if AnswerCheck.objects.filter(project=project, state__in=AnswerCheck.LIVE).exists():
        raise Conflict("check_running", _("The answers of this project are being checked already."))
    total = gradable(project).count()
    if not total:
        raise Conflict("no_references", _("No solution here is of a problem with a reference answer."))
    check = AnswerCheck.objects.create(project=project, requested_by=by, overwrite=overwrite, total=total)
    audit.record(by=by, action="answers.check", target=check, project=project, after={"overwrite": overwrite})
    enqueue(TASK, check.pk)
    return check


@transaction.atomic
def cancel_answer_check(*, by: User, check: AnswerCheck) -> AnswerCheck:
    """Stop behind the chunk it is at; what is graded stays. Raises Forbidden, Conflict (`check_over`)."""
    require_role(by, check.project, Membership.Role.MANAGER)
    check = AnswerCheck.objects.select_for_update(of=("self",)).select_related("project").get(pk=check.pk)
    if check.state not in AnswerCheck.LIVE:
        raise Conflict("check_over", _("This check is %(state)s already.") % {"state": check.state})
    check.cancel_requested = True
    check.save(update_fields=["cancel_requested"])
    audit.record(by=by, action="answers.cancel", target=check, project=check.project)
    if check.state == AnswerCheck.State.QUEUED:
        _end(check, AnswerCheck.State.CANCELLED)
    return check


def run_answer_check(check_id: int) -> None:
    """Grade from where the check stands to its end; nothing where another worker is at it, or it has ended."""
    with sole_worker(LOCK, check_id) as alone:
        check = _begin(check_id) if alone else None
        if check is None:
            return
        try:
            while chunk := _next(check):
                if not _keep(check, chunk, _graded(chunk)):
                    return
            _end(check, AnswerCheck.State.DONE)
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            _end(check, AnswerCheck.State.FAILED, f"Unexpected, after {check.done} solutions: {error!r}.")
            raise


def sweep_answer_checks() -> int:
    """Enqueue again the checks that nobody has worked on for a while; returns how many."""
    live = AnswerCheck.objects.filter(state__in=AnswerCheck.LIVE)
    stalled = live.alias(seen_at=Coalesce("heartbeat_at", "created_at")).filter(
        seen_at__lt=timezone.now() - STALLED_AFTER
    )
    checks = list(stalled.values_list("pk", flat=True))
    for check in checks:
        AnswerCheck.objects.filter(pk=check).update(heartbeat_at=timezone.now())
        enqueue(TASK, check)
    return len(checks)


def gradable(project: Project) -> QuerySet[Solution]:
    """The solutions of problems with a reference answer."""
    return project.solutions.filter(problem__reference_answer__isnull=False).exclude(problem__reference_answer="")


@dataclass(frozen=True)
class Outcomes:
    """Solutions of a project by outcome."""

    correct: int
    wrong: int
    unknown: int

    @property
    def total(self) -> int:
        return self.correct + self.wrong + self.unknown


def outcomes_of(project: Project) -> Outcomes:
    counted = project.solutions.aggregate(
        correct=Count("pk", filter=Q(final_answer_correct=True)),
        wrong=Count("pk", filter=Q(final_answer_correct=False)),
        unknown=Count("pk", filter=Q(final_answer_correct=None)),
    )
    return Outcomes(**counted)


@dataclass(frozen=True)
class _Verdict:
    correct: bool | None
    answer: str


def _begin(check_id: int) -> AnswerCheck | None:
    with transaction.atomic():
        check = AnswerCheck.objects.select_for_update(of=("self",)).select_related("project").get(pk=check_id)
        if check.state not in AnswerCheck.LIVE:
            return None
        now = timezone.now()
        check.state, check.heartbeat_at, check.started_at = AnswerCheck.State.RUNNING, now, check.started_at or now
        check.save(update_fields=["state", "heartbeat_at", "started_at"])
        return check


def _next(check: AnswerCheck) -> list[Solution]:
    rows = gradable(check.project).filter(pk__gt=check.done_up_to).select_related("problem").order_by("pk")
    return list(rows[:CHUNK])


def _graded(chunk: list[Solution]) -> list[_Verdict]:
    steps = Step.objects.filter(solution__in=chunk, alternative=0).order_by("solution", "-position")
    last = dict(steps.distinct("solution").values_list("solution", "text"))
    answers = [Answered(one.final_answer, last.get(one.pk, ""), one.problem.reference_answer or "") for one in chunk]
    verdicts = grade_answers(answers, seconds_in_all=SECONDS)
    return [
        _Verdict(correct, (answer.stated or answer_in(answer.last) or "")[:1000])
        for answer, correct in zip(answers, verdicts, strict=True)
    ]


@transaction.atomic
def _keep(check: AnswerCheck, chunk: list[Solution], verdicts: list[_Verdict]) -> bool:
    """Store what a chunk was graded as, with the progress it makes; False where the check was cancelled."""
    if AnswerCheck.objects.select_for_update().values_list("cancel_requested", flat=True).get(pk=check.pk):
        _end(check, AnswerCheck.State.CANCELLED)
        return False
    now_here = {one.pk: one for one in Solution.objects.select_for_update().filter(pk__in=[one.pk for one in chunk])}
    before, after, disagreements = {}, {}, []
    for read, verdict in zip(chunk, verdicts, strict=True):
        check.correct += verdict.correct is True
        check.wrong += verdict.correct is False
        check.unknown += verdict.correct is None
        solution = now_here.get(read.pk)
        if solution is None or verdict.correct is None or solution.final_answer_correct == verdict.correct:
            continue
        is_others = solution.final_answer_correct is not None and solution.outcome_source != GRADER
        if is_others:
            disagreements.append(_disagreement(check, solution, verdict))
        if is_others and not check.overwrite:
            continue
        before[str(solution.pk)] = {"correct": solution.final_answer_correct, "source": solution.outcome_source}
        after[str(solution.pk)] = {"correct": verdict.correct, "source": GRADER.value}
        solution.final_answer_correct, solution.outcome_source = verdict.correct, GRADER
        solution.save(update_fields=["final_answer_correct", "outcome_source"])
    OutcomeDisagreement.objects.bulk_create(disagreements)
    if after:
        audit.record(
            by=check.requested_by, action="outcomes.grade", target=check, project=check.project,
            before=before, after=after,
        )  # fmt: skip
    check.changed += len(after)
    check.done += len(chunk)
    check.done_up_to, check.heartbeat_at = chunk[-1].pk, timezone.now()
    check.save(update_fields=["correct", "wrong", "unknown", "changed", "done", "done_up_to", "heartbeat_at"])
    return True


def _disagreement(check: AnswerCheck, solution: Solution, verdict: _Verdict) -> OutcomeDisagreement:
    assert solution.final_answer_correct is not None
    assert verdict.correct is not None
    return OutcomeDisagreement(
        check_run=check,
        solution=solution,
        was=solution.final_answer_correct,
        was_source=solution.outcome_source or Solution.OutcomeSource.GIVEN,
        graded=verdict.correct,
        answer=verdict.answer,
    )


@transaction.atomic
def _end(check: AnswerCheck, state: AnswerCheck.State, error: str = "") -> None:
    check.state, check.error, check.finished_at = state, error, timezone.now()
    check.save(update_fields=["state", "error", "finished_at"])
    counts = {name: getattr(check, name) for name in ("correct", "wrong", "unknown", "changed")}
    audit.record(
        by=check.requested_by,
        action=f"answers.{state}",
        target=check,
        project=check.project,
        after=counts | ({"error": error} if error else {}),
    )
