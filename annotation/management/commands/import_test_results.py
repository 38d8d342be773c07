from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import DomainError
from annotation.files.code_outcomes import apply_results, kind_of
from annotation.files.opening import open_content
from annotation.management.named_project import find_project_by_slug

SHOWN = 20


class Command(BaseCommand):
    help = (
        "Set the outcomes of code solutions from external test results: a JUnit XML report, or JSON Lines of "
        '{"id", "passed", "failed"}. Nothing is executed. A second run changes nothing.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--project", required=True, help="address (slug) of the project")
        parser.add_argument("--format", default="auto", choices=["auto", "junit", "jsonl"])

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project_by_slug(options["project"])
        file: Path = options["file"]
        kind = kind_of(file.name.removesuffix(".gz")) if options["format"] == "auto" else options["format"]
        try:
            with open_content(str(file)) as content:
                applied = apply_results(by=None, project=project, content=content.stream, kind=kind)
        except DomainError as error:
            raise CommandError(error.message) from None
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror or error}.") from None
        self.stdout.write(
            f"{applied.correct} correct, {applied.wrong} wrong; {applied.changed} of them changed; "
            f"{applied.refused} refused."
        )
        for refusal in applied.shown[:SHOWN]:
            where = f"line {refusal.line}, " if refusal.line else ""
            self.stdout.write(f"  {where}{refusal.id or '(no id)'}: {refusal.reason}")
        if applied.refused > SHOWN:
            self.stdout.write(f"  and {applied.refused - SHOWN} more")
