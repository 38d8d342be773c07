from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import DomainError
from annotation.files.answer_checks import run_answer_check, start_answer_check
from annotation.management.finishing import finish_job
from annotation.management.named_project import find_project_by_slug
from annotation.models import AnswerCheck

SHOWN = 20


class Command(BaseCommand):
    help = (
        "Compare the final answers of a project's solutions with the reference answers of their problems. Outcomes "
        "from imports or tests are kept; the command lists those that differ from the grader's."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="address (slug) of the project")
        parser.add_argument("--overwrite", action="store_true", help="also overwrite outcomes from imports or tests")

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project_by_slug(options["project"])
        try:
            check = start_answer_check(by=None, project=project, overwrite=options["overwrite"])
        except DomainError as error:
            raise CommandError(error.message) from None
        finish_job(check, partial(run_answer_check, check.pk))
        self.stdout.write(
            f"{check.correct} correct, {check.wrong} wrong, {check.unknown} unknown; {check.changed} outcomes changed."
        )
        disagreements = check.disagreements.count()
        if disagreements:
            self.stdout.write(f"{disagreements} outcomes from imports or tests differ from the grader's:")
        for row in check.disagreements.all()[:SHOWN]:
            was, graded = ("correct" if right else "wrong" for right in (row.was, row.graded))
            self.stdout.write(f"  solution {row.solution_id}: {was} ({row.was_source}), graded {graded}: {row.answer}")
        if disagreements > SHOWN:
            self.stdout.write(f"  and {disagreements - SHOWN} more")
        if check.state != AnswerCheck.State.DONE:
            raise CommandError(check.error or f"The check is {check.get_state_display()}.")
