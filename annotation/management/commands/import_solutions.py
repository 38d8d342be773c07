import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import msgspec
from django.core.management.base import BaseCommand, CommandError

from annotation.errors import DomainError
from annotation.formats.mapping import Mapping, parse_mapping
from annotation.formats.registry import READERS
from annotation.intake.decomposition import RULES
from annotation.intake.importing import run_import
from annotation.intake.imports import create_import, progress_of
from annotation.management.projects import project_at
from annotation.models import ImportJob, ImportOptions

SHOWN_REJECTIONS = 20


class Command(BaseCommand):
    help = "Import a file of problems and solutions, labels included where it has them. A second run adds nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--project", required=True, help="address (slug) of the project")
        parser.add_argument("--format", default="auto", choices=["auto", *READERS])
        parser.add_argument("--mapping", type=Path, help="JSON file that says what the columns of a table hold")
        parser.add_argument("--decomposition", default="blank_lines", choices=list(RULES))

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        project = project_at(options["project"])
        try:
            job = create_import(
                by=None,
                project=project,
                path=file,
                filename=file.name,
                format=options["format"],
                decomposition=options["decomposition"],
                options=ImportOptions(mapping=self._mapping(options["mapping"])),
            )
        except DomainError as error:
            raise CommandError(error.message) from None
        run_import(job.pk, on_progress=self._tell)
        job.refresh_from_db()
        if sys.stderr.isatty():
            self.stderr.write("")
        self._report(job)
        if job.state != ImportJob.State.DONE:
            raise CommandError(job.error or f"The import is {job.state}.")

    def _mapping(self, path: Path | None) -> Mapping | None:
        try:
            return parse_mapping(path.read_bytes()) if path else None
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from None

    def _tell(self, job: ImportJob) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{progress_of(job).share:4.0%}  {job.done_records} records", ending="")

    def _report(self, job: ImportJob) -> None:
        self.stdout.write(
            f"{job.filename} ({job.format}): {job.accepted} accepted with {job.annotations} annotations, "
            f"{job.duplicates} duplicates, {job.rejected} rejected."
        )
        if mapping := job.import_options.mapping:
            self.stdout.write(f"  read by the mapping {msgspec.json.encode(mapping).decode()}")
        for rejection in job.rejections.all()[:SHOWN_REJECTIONS]:
            field = f", {rejection.field}" if rejection.field else ""
            self.stdout.write(f"  line {rejection.line}{field}: {rejection.reason}")
        if job.rejected > SHOWN_REJECTIONS:
            self.stdout.write(f"  and {job.rejected - SHOWN_REJECTIONS} more")
