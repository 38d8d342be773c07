import sys
from argparse import ArgumentParser
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import DomainError
from annotation.files import label_studio
from annotation.files.opening import open_content
from annotation.files.project_moves import move, people_of
from annotation.management import move_reports
from annotation.management.named_project import find_project_by_slug
from prm.formats.label_studio import Config, Task, propose, read_config

LOOKED_AT = 200  # tasks from which the names are detected


class Command(BaseCommand):
    help = (
        "Import a Label Studio project from a JSON export (with all tasks) or from a running server. Tasks, annotators "
        "and step ratings are imported; a line per task reports what was not. A second run adds nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, nargs="?", help="the JSON export; may be compressed with gzip or zstd")
        parser.add_argument("--config", type=Path, help="the labelling config, XML (default: detect names)")
        parser.add_argument("--url", help="address of a running server, instead of a file")
        parser.add_argument("--token-file", type=Path, help="file of the server's access token; - for standard input")
        parser.add_argument("--ls-project", type=int, help="the project's number on the server")
        parser.add_argument(
            "--person",
            action="append",
            default=[],
            metavar="ID=EMAIL",
            help="an annotator's e-mail address",
        )
        move_reports.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["file"]) == bool(options["url"]):
            raise CommandError("Give either the file of an export, or --url with --token-file and --ls-project.")
        project = find_project_by_slug(options["project"])
        try:
            if options["url"]:
                self._from_server(project, options)
            else:
                self._from_file(project, options)
        except (DomainError, ValueError) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(
                f"{error.filename or options['file']} cannot be read: {error.strerror or error}."
            ) from None

    def _from_file(self, project: Any, options: dict[str, Any]) -> None:
        config = read_config(options["config"].read_text()) if options["config"] else None
        with open_content(str(options["file"])) as content:
            first = islice(label_studio.read_export(content.stream), LOOKED_AT)
            names = self._names([task for _, task in first if isinstance(task, Task)], config, options)
        with open_content(str(options["file"])) as content:
            self._move(project, label_studio.read_export(content.stream), names, options, {})

    def _from_server(self, project: Any, options: dict[str, Any]) -> None:
        if not options["token_file"] or not options["ls_project"]:
            raise CommandError("--url requires --token-file and --ls-project.")
        token = sys.stdin.read() if str(options["token_file"]) == "-" else options["token_file"].read_text()
        server = label_studio.Server(options["url"], token.strip(), options["ls_project"])
        config = read_config(options["config"].read_text() if options["config"] else server.config())
        first = [task for _, task in islice(server.tasks(), LOOKED_AT) if isinstance(task, Task)]
        self._move(project, server.tasks(), self._names(first, config, options), options, server.emails())

    def _names(self, tasks: list[Task], config: Config | None, options: dict[str, Any]) -> Any:
        if not tasks:
            raise CommandError("The export has no tasks. Export as JSON, not as JSON_MIN or CSV, and with all tasks.")
        names = move_reports.correct_names(propose(tasks, config), options)
        self.stdout.write(move_reports.describe_names(names))
        if not names.rating:
            self.stdout.write("No control rates steps, so tasks are imported without labels (see --rating).")
        return names

    def _move(self, project: Any, tasks: Any, names: Any, options: dict[str, Any], emails: dict[int, str]) -> None:
        if options["dry_run"]:
            return
        naming = people_of(project, tool=label_studio.TOOL, members=options["members"])
        known = emails | _people(options["person"])
        summary = move(
            project=project,
            tool=label_studio.TOOL,
            tasks=label_studio.moved_tasks(
                tasks, names=names, naming=naming, emails=known, decomposition=options["decomposition"]
            ),
            on_report=lambda task: move_reports.report_task(task, self.stdout.write),
        )
        self.stdout.write(move_reports.describe_total(summary))


def _people(pairs: list[str]) -> dict[int, str]:
    people = {}
    for pair in pairs:
        number, _, email = pair.partition("=")
        if not number.isdigit() or not email:
            raise CommandError(f"--person {pair}: use the form ID=EMAIL, such as 2=sam@example.org.")
        people[int(number)] = email
    return people
