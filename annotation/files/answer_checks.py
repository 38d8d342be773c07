"""Answer checks: grade a project's stored solutions, set missing outcomes and list disagreements.

A check works through solutions by id in chunks and commits each chunk's outcomes with its progress, so a killed check
resumes where it was. A second run changes nothing.
"""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet

from annotation.core import audit
from annotation.core.errors import Conflict
from annotation.core.lifecycle import raise_if_cancelled, run_job, save_progress, send
from annotation.core.membership.access import require_role
from annotation.files.answer_grading import GRADER, SECONDS_A_CHUNK, Answered, answer_in, grade_answers
from annotation.models import AnswerCheck, Membership, OutcomeDisagreement, Problem, Project, Solution, Step
from prm.messages import Message

CHUNK = 200
SECONDS_WAITED = 5.0  # of algebra while somebody waits for the page; the rest stay unknown until the next check


@transaction.atomic
def start_answer_check(*, by: User | None, project: Project, overwrite: bool = False) -> AnswerCheck:
    """Enqueue a check of the answers of a project. `by` is None for the operator of the machine.

    Raises Forbidden, Conflict (`check_running`, `no_references`).
    """
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if AnswerCheck.objects.filter(project=project, state__in=AnswerCheck.LIVE).exists():
        raise Conflict(Message("check_running"))
    total = gradable(project).count()
    if not total:
        raise Conflict(Message("no_references"))
    check = AnswerCheck.objects.create(project=project, requested_by=by, overwrite=overwrite, total=total)
    audit.record(by=by, action="answers.check", target=check, after={"overwrite": overwrite})
    send(check)
    return check


def run_answer_check(check_id: int) -> None:
    """Run the check to its end. Does nothing if another worker has it, or if it has ended."""
    run_job(AnswerCheck, check_id, _grade)


def gradable(project: Project) -> QuerySet[Solution]:
    """The solutions of problems with a reference answer."""
    return project.solutions.filter(problem__reference_answer__isnull=False).exclude(problem__reference_answer="")


@dataclass(frozen=True)
class Outcomes:
    """The numbers of a project's solutions by outcome."""

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


def regrade(problem: Problem, *, by: User) -> None:
    """Grade the solutions of a problem by its new reference, within the caller's transaction.

    Outcomes from tests or an import stay. The grader's own outcomes are removed if it can no longer decide.
    """
    unknown_or_graded = Q(final_answer_correct=None) | Q(outcome_source=GRADER)
    rows = problem.solutions.filter(unknown_or_graded).select_related("problem").order_by("pk")
    solutions = list(rows.select_for_update(no_key=True, of=("self",)))
    before, after = {}, {}
    for solution, verdict in zip(solutions, _graded(solutions, seconds=SECONDS_WAITED), strict=True):
        was = _outcome(solution)
        solution.final_answer_correct = verdict.correct
        solution.outcome_source = "" if verdict.correct is None else GRADER
        if was != _outcome(solution):
            before[str(solution.pk)], after[str(solution.pk)] = was, _outcome(solution)
    Solution.objects.bulk_update(solutions, ["final_answer_correct", "outcome_source"])
    if after:
        audit.record(by=by, action="outcomes.grade", target=problem, before=before, after=after)


def _outcome(solution: Solution) -> dict[str, Any]:
    return {"correct": solution.final_answer_correct, "source": str(solution.outcome_source)}


@dataclass(frozen=True)
class _Verdict:
    correct: bool | None
    answer: str


def _grade(check: AnswerCheck) -> None:
    while chunk := _next(check):
        _store(check, chunk, _graded(chunk, seconds=SECONDS_A_CHUNK))


def _next(check: AnswerCheck) -> list[Solution]:
    rows = gradable(check.project).filter(pk__gt=check.done_up_to).select_related("problem").order_by("pk")
    return list(rows[:CHUNK])


def _graded(chunk: list[Solution], *, seconds: float) -> list[_Verdict]:
    steps = Step.objects.filter(solution__in=chunk, alternative=0).order_by("solution", "-position")
    last = dict(steps.distinct("solution").values_list("solution", "text"))
    answers = [Answered(row.final_answer, last.get(row.pk, ""), row.problem.reference_answer or "") for row in chunk]
    verdicts = grade_answers(answers, seconds_in_all=seconds)
    return [
        _Verdict(correct, (answer.stated or answer_in(answer.last) or "")[:1000])
        for answer, correct in zip(answers, verdicts, strict=True)
    ]


@transaction.atomic
def _store(check: AnswerCheck, chunk: list[Solution], verdicts: list[_Verdict]) -> None:
    """Store a chunk's outcomes with the check's progress. Raises Cancelled."""
    raise_if_cancelled(check)
    rows = Solution.objects.select_for_update(no_key=True).filter(pk__in=[row.pk for row in chunk]).order_by("pk")
    current = {row.pk: row for row in rows}
    references = dict(Problem.objects.filter(solutions__in=current).values_list("pk", "reference_answer"))
    before, after, changed, disagreements = {}, {}, [], []
    for read, verdict in zip(chunk, verdicts, strict=True):
        check.correct += verdict.correct is True
        check.wrong += verdict.correct is False
        check.unknown += verdict.correct is None
        solution = current.get(read.pk)
        if solution is None or verdict.correct is None or solution.final_answer_correct == verdict.correct:
            continue
        if references[solution.problem_id] != read.problem.reference_answer:
            continue  # the reference was corrected since, and `regrade` has graded the solution by the new one
        is_foreign = solution.final_answer_correct is not None and solution.outcome_source != GRADER
        if is_foreign:
            disagreements.append(_disagreement(check, solution, verdict))
        if is_foreign and not check.overwrite:
            continue
        before[str(solution.pk)] = _outcome(solution)
        solution.final_answer_correct, solution.outcome_source = verdict.correct, GRADER
        after[str(solution.pk)] = _outcome(solution)
        changed.append(solution)
    Solution.objects.bulk_update(changed, ["final_answer_correct", "outcome_source"])
    OutcomeDisagreement.objects.bulk_create(disagreements)
    if after:
        audit.record(by=check.requested_by, action="outcomes.grade", target=check, before=before, after=after)
    check.changed += len(after)
    check.done += len(chunk)
    check.done_up_to = chunk[-1].pk
    save_progress(check, "correct", "wrong", "unknown", "changed", "done", "done_up_to")


def _disagreement(check: AnswerCheck, solution: Solution, verdict: _Verdict) -> OutcomeDisagreement:
    assert solution.final_answer_correct is not None
    assert verdict.correct is not None
    return OutcomeDisagreement(
        check_run=check,
        solution=solution,
        was=solution.final_answer_correct,
        was_source=solution.outcome_source or "given",
        graded=verdict.correct,
        answer=verdict.answer,
    )
