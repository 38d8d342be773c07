"""Some solutions as a policy writes them, before any is taken in."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from annotation.core.errors import DomainError
from annotation.core.membership.access import require_role
from annotation.loop.gateway.policies import AskedPolicy, model_of
from annotation.loop.sampling.policy_records import record_of
from annotation.loop.sampling.problem_choice import chosen_problems
from annotation.loop.sampling.sampling_runs import Wish, check_wish
from annotation.models import Membership, Problem, Project, SamplingRun
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
    seed = 0 if wish.seed is None else wish.seed
    replies = policy.ask([one.text for one in problems], samples=1, seeds=[seed + k for k in range(len(problems))])
    unsaved = SamplingRun(
        endpoint=wish.endpoint, model=model_of(wish.endpoint), prompt=wish.prompt, seed=seed, pk=0,
        max_tokens=wish.max_tokens, temperature=wish.temperature, decomposition=wish.decomposition,
        thinking=wish.thinking,
    )  # fmt: skip
    shown = []
    for problem, reply in zip(problems, replies, strict=True):
        if reply.error:
            shown.append(Previewed(problem, None, reply.error))
            continue
        made = record_of(unsaved, problem, reply.samples[0], 0)
        shown.append(Previewed(problem, None, made.reason) if isinstance(made, Rejection) else Previewed(problem, made))
    return shown
