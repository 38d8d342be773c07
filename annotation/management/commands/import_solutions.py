import sys
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any, get_args

import msgspec
from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import DomainError
from annotation.files.import_body import run_import
from annotation.files.import_jobs import Manner, import_places, read_options, summary_of
from annotation.files.places import find_files
from annotation.files.warnings import warnings_in_words
from annotation.management.finishing import finish_job
from annotation.management.named_project import find_project_by_slug
from annotation.models import ImportJob, ImportOptions
from annotation.models.import_job import EmptySteps, LabelledBy, NoSolution, SourceGroups
from prm.errors import FormatError
from prm.formats.mapping import Mapping, parse_mapping
from prm.formats.registry import FORMATS
from prm.messages import write_share
from prm.splitting import RULES, THINKING

SHOWN_REJECTIONS = 20


class Command(BaseCommand):
    help = "Import files of problems and solutions, including their labels. A second run adds nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        usual = ImportOptions()
        parser.add_argument("paths", nargs="+", metavar="PATH", help="file, folder, pattern or address (s3://…)")
        parser.add_argument("--project", required=True, help="address (slug) of the project")
        parser.add_argument("--format", default="auto", choices=["auto", *FORMATS])
        parser.add_argument("--mapping", type=Path, help="JSON file that maps the columns of a table")
        parser.add_argument("--decomposition", default="blank_lines", choices=list(RULES))
        parser.add_argument("--annotator", default=usual.annotator, help="annotator of labels that name none")
        parser.add_argument(
            "--labelled-by", default=usual.labelled_by, choices=get_args(LabelledBy), help="source of the labels"
        )
        parser.add_argument("--empty-steps", default=usual.empty_steps, choices=get_args(EmptySteps))
        parser.add_argument(
            "--no-solution",
            default=usual.no_solution,
            choices=get_args(NoSolution),
            help="records with a problem only: reject them, or import the problem, to be sampled (%(default)s)",
        )
        parser.add_argument(
            "--source-groups",
            default=usual.source_groups,
            choices=get_args(SourceGroups),
            help="problems without a source_group share one if they are equal up to numbers (template) or equal (text)",
        )
        parser.add_argument(
            "--thinking", default=usual.thinking, choices=THINKING, help="hidden reasoning (%(default)s)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project_by_slug(options["project"])
        try:
            chosen = {name: options[name] for name in ImportOptions.__struct_fields__}
            read = read_options(chosen | {"mapping": self._mapping(options["mapping"])})
            manner = Manner(options["format"], options["decomposition"], read)
            files = [file for path in options["paths"] for file in find_files(path)]
            jobs = import_places(
                by=None,
                project=project,
                files=[(file, file) for file in files],
                manner=manner,
                name=options["paths"][0],
            )
        except DomainError as error:
            if error.code == "mapping_needed":
                hint = "Name the columns in a JSON file, and pass it with --mapping."
                raise CommandError(f"{options['paths'][0]}: {error.message} {hint}") from None
            raise CommandError(error.message) from None
        if group := jobs[0].group:
            jobs = list(group.jobs.order_by("pk"))
        for job in jobs:
            finish_job(
                job, partial(run_import, job.pk, on_progress=self._show_progress)
            )  # each job of a group enqueues the next
            if sys.stderr.isatty():
                self.stderr.write("")
            self._report(job)
        if group:
            self.stdout.write(
                "{files} files: {accepted} accepted, {duplicates} duplicates, {rejected} rejected, "
                "{failed} could not be read.".format(**summary_of(group))
            )
        if undone := [job for job in jobs if job.state != ImportJob.State.DONE]:
            raise CommandError(
                "\n".join(job.error or f"The import of {job.filename} is {job.state}." for job in undone)
            )
        if any(job.rejected for job in jobs) and not any(job.accepted or job.duplicates for job in jobs):
            raise CommandError("Every record was rejected.")

    def _mapping(self, path: Path | None) -> Mapping | None:
        try:
            return parse_mapping(path.read_bytes()) if path else None
        except FormatError as error:
            raise CommandError(f"{path}: {error.message}") from None
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from None

    def _show_progress(self, job: ImportJob) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{write_share(job.share or 0):>5}  {job.done_records} records", ending="")

    def _report(self, job: ImportJob) -> None:
        self.stdout.write(
            f"{job.filename} ({job.format}): {job.accepted} accepted with {job.annotations} annotations, "
            f"{job.duplicates} duplicates, {job.rejected} rejected."
        )
        if mapping := job.import_options.mapping:
            self.stdout.write(f"  read by the mapping {msgspec.json.encode(mapping).decode()}")
        for warning in warnings_in_words(job.warnings):
            self.stdout.write(f"  Warning: {warning}")
        for rejection in job.rejections.all()[:SHOWN_REJECTIONS]:
            field = f", {rejection.field}" if rejection.field else ""
            self.stdout.write(f"  line {rejection.line}{field}: {rejection.reason}")
        if job.rejected > SHOWN_REJECTIONS:
            self.stdout.write(f"  and {job.rejected - SHOWN_REJECTIONS} more")
