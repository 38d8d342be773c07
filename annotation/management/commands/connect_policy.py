import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import DomainError
from annotation.loop.sampling.run_body import run_sampling
from annotation.loop.sampling.sampling_runs import SamplingPlan, create_sampling
from annotation.management.named_project import find_project_by_slug
from annotation.models import SamplingRun
from prm.messages import write_share
from prm.splitting import RULES, THINKING

SHOWN_ERRORS = 10


class Command(BaseCommand):
    help = (
        "Sample solutions from a policy named in POLICY_ENDPOINTS, grade them by the reference answers and import "
        "them; the workers then score them and, with --open-generation, queue them for labelling."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        plan = SamplingPlan("")
        parser.add_argument("project", help="address (slug) of the project")
        parser.add_argument("--endpoint", required=True, help="the endpoint's name in POLICY_ENDPOINTS")
        parser.add_argument("--samples", type=int, default=plan.samples, help="solutions per problem (%(default)s)")
        parser.add_argument("--temperature", type=float, default=plan.temperature, help="(%(default)s)")
        parser.add_argument("--max-tokens", type=int, default=plan.max_tokens, help="tokens per solution (%(default)s)")
        parser.add_argument("--prompt", help="the user message, which must contain {problem} (default: the endpoint's)")
        parser.add_argument("--decomposition", default=plan.decomposition, choices=list(RULES))
        parser.add_argument(
            "--thinking", default=plan.thinking, choices=THINKING, help="hidden reasoning (%(default)s)"
        )
        parser.add_argument("--choice", default=plan.choice, choices=SamplingRun.Choice.values, help="which problems")
        parser.add_argument("--domain", default="", help="problems of one domain only")
        parser.add_argument("--most-problems", type=int, help="maximum number of problems")
        parser.add_argument("--token-budget", type=int, help="maximum number of tokens, prompts included")
        parser.add_argument("--open-generation", action="store_true", help="open the next generation after scoring")
        parser.add_argument("--seed", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project_by_slug(options["project"])
        same = (
            "endpoint", "samples", "temperature", "max_tokens", "decomposition", "thinking", "choice", "domain", "seed"
        )  # fmt: skip
        plan = SamplingPlan(
            **{name: options[name] for name in same},
            prompt=options["prompt"] or "",
            most_problems=options["most_problems"],
            token_budget=options["token_budget"],
            opens_generation=options["open_generation"],
        )
        try:
            run = create_sampling(by=None, project=project, plan=plan)
        except DomainError as error:
            raise CommandError(error.message) from None
        run_sampling(run.pk, seconds=None, on_progress=self._show_progress)
        run.refresh_from_db()
        if sys.stderr.isatty():
            self.stderr.write("")
        self._report(run)
        if run.state not in (SamplingRun.State.DONE, SamplingRun.State.SCORING):
            raise CommandError(run.error or f"The sampling is {run.get_state_display()}.")

    def _show_progress(self, run: SamplingRun) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{write_share(run.share or 0):>5}  {run.sampled} samples", ending="")

    def _report(self, run: SamplingRun) -> None:
        self.stdout.write(
            f"{run.sampled} samples of {run.done_problems} problems from {run.endpoint} ({run.model}): "
            f"{run.accepted} new, {run.duplicates} duplicates, {run.refused} refused, "
            f"failed problems: {run.failed_problems}."
        )
        self.stdout.write(
            f"{run.right} right, {run.wrong} wrong, {run.ungraded} not graded; "
            f"{run.prompt_tokens + run.completion_tokens:,} tokens in {run.calls} calls."
        )
        for row in run.sampled_problems.exclude(error="")[:SHOWN_ERRORS]:
            self.stdout.write(f"  problem {row.problem_id}: {row.error}")
        if run.note:
            self.stdout.write(run.note)
        if run.state == SamplingRun.State.SCORING:
            self.stdout.write("The next generation opens when the workers have scored the new solutions.")
