"""Previews a judging run: the call for one solution, whose reply is not stored."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from django.contrib.auth.models import User

from annotation.core.errors import DomainError
from annotation.core.membership.access import require_role
from annotation.loop.gateway.policies import PROMPT, PolicyClient, Reply
from annotation.loop.judging.chosen_solutions import choose
from annotation.loop.judging.judging_runs import JudgingPlan, check_plan, unsaved_run
from annotation.loop.judging.methods import Hand, Question, count_right, first_move, read_reply
from annotation.loop.judging.replies import Unreadable, Verdict
from annotation.models import JudgedSolution, JudgingRun, Membership, Project, Solution, Step
from prm.messages import Message


@dataclass(frozen=True)
class Preview:
    """The message and the reply for one solution: a judge's verdict, or whether a rollout was right.

    `fault` is the reason for a missing verdict, or the endpoint's failure.
    """

    solution: Solution
    steps: Sequence[Step]
    message: str
    reply: str = ""
    tokens: int = 0
    verdict: Verdict | None = None
    right: bool | None = None
    fault: str = ""


def preview_judging(*, by: User, project: Project, plan: JudgingPlan) -> Preview:
    """The first call for the first chosen solution. It costs what the endpoint charges, and nothing is stored.

    Raises Forbidden, DomainError (`unknown_endpoint`, `invalid_judging`, `no_solutions`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    check_plan(project, plan)
    run = unsaved_run(project, plan)
    ids, _left_out = choose(run, plan.chosen)
    if not ids:
        raise DomainError(Message("no_solution_to_judge"), code="no_solutions")
    solution = Solution.objects.select_related("problem").get(pk=ids[0])
    hand = Hand(JudgedSolution(run=run, solution=solution, position=0), solution.sampled_steps)
    question = first_move(hand)
    if not isinstance(question, Question):
        raise DomainError(Message("judging_needs_no_call"), code="no_solutions")
    client = PolicyClient(
        plan.endpoint,
        prompt=PROMPT if run.method == JudgingRun.Method.JUDGE else run.prompt,
        temperature=run.temperature,
        max_tokens=run.max_tokens,
        for_preview=True,
    )
    begun = [(step.text, step.kind) for step in question.steps]
    reply = client.request(question.problem, begun, samples=1, seed=run.seed)
    return _preview_of(hand, question, reply)


def _preview_of(hand: Hand, question: Question, reply: Reply) -> Preview:
    run, solution = hand.judged.run, hand.judged.solution
    preview = Preview(solution, hand.steps, question.message, tokens=reply.prompt_tokens + reply.completion_tokens)
    if not reply.samples:
        return replace(preview, fault=reply.error)
    sample = reply.samples[0]
    preview = replace(preview, reply=sample.text)
    if run.method == JudgingRun.Method.MONTE_CARLO:
        return replace(preview, right=count_right([sample.text], solution.problem, question.steps) == 1)
    try:
        return replace(preview, verdict=read_reply(run, asdict(sample), len(hand.steps)))
    except Unreadable as error:
        return replace(preview, fault=error.fault)
