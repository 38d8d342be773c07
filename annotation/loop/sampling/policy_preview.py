"""Previews a sampling run: a few solutions of the policy, which are not stored."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from annotation.core.errors import DomainError
from annotation.core.membership.access import require_role
from annotation.loop.gateway.policies import PolicyClient
from annotation.loop.sampling.policy_records import record_of
from annotation.loop.sampling.sampling_runs import SamplingPlan, check_plan, chosen_problems, unsaved_run
from annotation.models import Membership, Problem, Project
from prm.formats.record import Record, Rejection
from prm.messages import Message

SHOWN = 3


@dataclass(frozen=True)
class Preview:
    """One sampled solution: the record to import, the reason for rejecting it, or the policy's failure."""

    problem: Problem
    record: Record | None
    fault: str = ""


def preview_sampling(*, by: User, project: Project, plan: SamplingPlan) -> list[Preview]:
    """Sample and grade one solution of each of the first problems; nothing is stored.

    Raises Forbidden, DomainError (`unknown_endpoint`, `invalid_sampling`, `no_problems`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    check_plan(plan)
    ids = chosen_problems(project, choice=plan.choice, domain=plan.domain, most=min(SHOWN, plan.most_problems or SHOWN))
    if not ids:
        raise DomainError(Message("no_problem_of_choice"), code="no_problems")
    rows = Problem.objects.in_bulk(ids)
    problems = [rows[pk] for pk in ids]
    run = unsaved_run(plan, project)
    policy = PolicyClient(
        run.endpoint, prompt=run.prompt, temperature=run.temperature, max_tokens=run.max_tokens, for_preview=True
    )
    seeds = [(plan.seed or 0) + position for position in range(len(problems))]
    replies = policy.sample([problem.text for problem in problems], samples=1, seeds=seeds)
    previews = []
    for problem, reply in zip(problems, replies, strict=True):
        if reply.error:
            previews.append(Preview(problem, None, reply.error))
            continue
        record = record_of(run, problem, reply.samples[0], 0)
        if isinstance(record, Rejection):
            previews.append(Preview(problem, None, record.reason))
        else:
            previews.append(Preview(problem, record))
    return previews
