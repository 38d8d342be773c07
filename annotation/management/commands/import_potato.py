from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.files import potato
from annotation.files.project_moves import move, people_of
from annotation.management import move_reports
from annotation.management.named_project import find_project_by_slug
from prm.formats.potato import propose, read_annotators, read_config, read_data


class Command(BaseCommand):
    help = (
        "Import a Potato project from its folder, with config.yaml, the data files and annotation_output. Tasks, "
        "annotators and step ratings are imported; a line per task reports what was not. A second run adds nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--config", type=Path, help="the project's config (default: config.yaml in the folder)")
        move_reports.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project_by_slug(options["project"])
        try:
            source = read_config(options["config"] or options["folder"] / "config.yaml")
            first = next((data for _, data in read_data(source.data_files) if isinstance(data, dict)), None)
            if first is None:
                raise CommandError("The data files in the config have no tasks.")
            names = move_reports.correct_names(propose(source, first), options)
            self.stdout.write(move_reports.describe_names(names))
            if options["dry_run"]:
                return
            summary = move(
                project=project,
                tool=potato.TOOL,
                tasks=potato.moved_tasks(
                    source,
                    read_data(source.data_files),
                    annotators=read_annotators(source.output),
                    names=names,
                    naming=people_of(project, tool=potato.TOOL, members=options["members"]),
                    decomposition=options["decomposition"],
                ),
                on_report=lambda task: move_reports.report_task(task, self.stdout.write),
            )
        except ValueError as error:
            raise CommandError(f"{error}.") from None
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from None
        self.stdout.write(move_reports.describe_total(summary))
