"""Some solutions as a policy writes them, before any is taken in."""

from dataclasses import dataclass, replace

from django.contrib.auth.models import User

from annotation.core.errors import DomainError
from annotation.core.membership.access import require_role
from annotation.loop.gateway.policies import AskedPolicy
from annotation.loop.sampling.policy_records import record_of
from annotation.loop.sampling.sampling_runs import Wish, check_wish, chosen_problems, unsaved_run
from annotation.models import Membership, Problem, Project
from prm.formats.record import Record, Rejection
from prm.messages import Message

SHOWN = 3


@dataclass(frozen=True)
class Previewed:
    """One sampled solution: the record to import, the reason for rejecting it, or the policy's failure."""

    problem: Problem
    record: Record | None
    fault: str = ""


def preview_sampling(*, by: User, project: Project, wish: Wish) -> list[Previewed]:
    """Sample and grade one solution of each of the first problems; nothing is stored.

    Raises Forbidden, DomainError (`unknown_endpoint`, `invalid_sampling`, `no_problems`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    check_wish(wish)
    ids = chosen_problems(project, choice=wish.choice, domain=wish.domain, most=min(SHOWN, wish.most_problems or SHOWN))
    if not ids:
        raise DomainError(Message("no_problem_of_choice"), code="no_problems")
    rows = Problem.objects.in_bulk(ids)
    problems = [rows[pk] for pk in ids]
    policy = AskedPolicy(
        wish.endpoint, prompt=wish.prompt, temperature=wish.temperature, max_tokens=wish.max_tokens, for_preview=True
    )
    run = unsaved_run(replace(wish, seed=wish.seed or 0), project)
    seeds = [run.seed + place for place in range(len(problems))]
    replies = policy.ask([problem.text for problem in problems], samples=1, seeds=seeds)
    shown = []
    for problem, reply in zip(problems, replies, strict=True):
        if reply.error:
            shown.append(Previewed(problem, None, reply.error))
            continue
        made = record_of(run, problem, reply.samples[0], 0)
        shown.append(Previewed(problem, None, made.reason) if isinstance(made, Rejection) else Previewed(problem, made))
    return shown
