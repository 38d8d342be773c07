"""Which solutions a judging run labels, which it leaves out, and what it is expected to cost."""

from dataclasses import dataclass
from typing import Annotated

from django.db import models
from django.db.models import Avg, Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Length

from annotation.core.bounds import Count, Money, about
from annotation.labels.list_filters import SolutionFilter
from annotation.loop.gateway.policies import prices_of
from annotation.loop.judging.prefixes import most_prefixes
from annotation.models import Annotation, JudgeCall, JudgingRun, Project, Solution
from annotation.work.gold.designation import is_gold, is_practised

CHARACTERS_A_TOKEN = 4
LeftOut = Annotated[dict[str, Count], about("Solutions of the selection that get no label, by reason.")]
Method = JudgingRun.Method


@dataclass(frozen=True)
class JudgingEstimate:
    """What a run would label, and about what it would cost. Replies are expected to be as long as earlier ones."""

    solutions: Annotated[Count, about("Solutions that would get a label.")]
    left_out: LeftOut
    calls: Annotated[Count, about("Calls, at most.")]
    prompt_tokens: Annotated[Count, about("Tokens of the prompts.")]
    completion_tokens: Annotated[Count, about("Tokens of the replies.")]
    cost: Annotated[Money, about("The cost by the endpoint's prices.")]
    from_limit: Annotated[
        bool, about("Whether every reply is expected to reach the limit: there are no earlier calls.")
    ]


def choose(run: JudgingRun, chosen: SolutionFilter) -> tuple[list[int], dict[str, int]]:
    """The ids of the solutions that the run labels, and how many others the filter matches, by reason.

    Machines label nothing that measures people or models. The run may be unsaved.
    """
    rows = chosen.narrow(run.project, Solution.objects.filter(project=run.project))
    left_out = {}
    for reason, condition in _reasons(run).items():
        left_out[reason] = rows.filter(condition).count()
        rows = rows.exclude(condition)
    return list(rows.order_by("pk").values_list("pk", flat=True)), {k: n for k, n in left_out.items() if n}


def _reasons(run: JudgingRun) -> dict[str, Q]:
    """The condition of each reason to leave a solution out; the first one that applies counts."""
    own = Annotation.objects.filter(solution=OuterRef("pk"))
    reasons = {
        "holdout": Q(split="holdout"),
        "calibration": Q(split="calibration"),
        "gold": Q(is_gold()) | Q(is_practised()),
    }
    if run.method == Method.MONTE_CARLO:
        reasons["no_reference"] = Q(problem__reference_answer__isnull=True) | Q(problem__reference_answer="")
        own = own.filter(source__kind="monte_carlo", source__name=rollout_source(run))
    else:
        own = own.filter(annotator=run.annotator_id)
    if run.annotator_id or run.method == Method.MONTE_CARLO:
        reasons["labelled"] = Q(Exists(own))
    return reasons


def rollout_source(run: JudgingRun) -> str:
    """The name of the source of Monte Carlo estimates: the policy and its rollouts, so that others do not mix."""
    return f"{run.model}, {run.rollouts} rollouts"[:200]


def estimate(run: JudgingRun, ids: list[int], left_out: dict[str, int]) -> JudgingEstimate:
    """What the run is expected to cost for these solutions."""
    calls = prompt_characters = replies = 0
    for steps, written, problem in _lengths(run.project, ids):
        if run.method == Method.JUDGE:
            calls, replies = calls + 1, replies + 1
            prompt_characters += len(run.prompt) + problem + written
        else:
            prefixes = most_prefixes(steps, run.search)
            calls, replies = calls + prefixes, replies + prefixes * run.rollouts
            prompt_characters += prefixes * (len(run.prompt) + problem + written // 2)
    usual = _usual_length(run)
    prompt_tokens = prompt_characters // CHARACTERS_A_TOKEN
    completion_tokens = round(replies * (run.max_tokens if usual is None else usual))
    return JudgingEstimate(
        len(ids),
        left_out,
        calls,
        prompt_tokens,
        completion_tokens,
        float(prices_of(run.endpoint).cost(prompt_tokens, completion_tokens)),
        usual is None,
    )


def _lengths(project: Project, ids: list[int]) -> QuerySet[Solution, tuple[int, int, int]]:
    """The number of steps, their characters, and those of the problem."""
    solutions = Solution.objects.filter(project=project, pk__in=ids, steps__alternative=0)
    return solutions.annotate(
        count=models.Count("steps"), written=Sum(Length("steps__text")), asked=Length("problem__text")
    ).values_list("count", "written", "asked")


def _usual_length(run: JudgingRun) -> float | None:
    """The mean length of a reply to earlier calls like those of the run, in tokens."""
    alike = JudgeCall.objects.filter(
        judged__run__project=run.project,
        judged__run__endpoint=run.endpoint,
        judged__run__method=run.method,
        judged__run__template=run.template,
        state=JudgeCall.State.ANSWERED,
        metered=True,
    )
    mean: float | None = alike.aggregate(mean=Avg(F("completion_tokens") * 1.0 / F("samples")))["mean"]
    return mean
