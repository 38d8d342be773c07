from argparse import ArgumentParser
from typing import Any

import msgspec
from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import DomainError
from annotation.files.places import write_place
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.filters import SnapshotFilters
from annotation.labels.datasets.plans import MIXED_KINDS, plan_export
from annotation.labels.datasets.presets import PRESETS, preset_filters
from annotation.labels.datasets.snapshot_export import deliver_snapshot
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.management.named_project import find_project_by_slug
from annotation.models import Project, Snapshot
from prm.exporters import EXPORTERS
from prm.vocabulary import NEUTRAL_POLICIES, SPLITS

FILTERS = 'JSON, such as {"source_kinds": ["human"]}; filters: ' + ", ".join(SnapshotFilters.__struct_fields__)


class Command(BaseCommand):
    help = "Make a snapshot of a project's labels and write it to a file, with a dataset card beside it (TARGET.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("target", help="a file, or an address that fsspec opens, such as s3://bucket/labels.jsonl")
        parser.add_argument("--project", required=True, help="address (slug) of the project")
        parser.add_argument("--format", default="prm800k", choices=EXPORTERS.names())
        parser.add_argument(
            "--neutral", default="positive", choices=NEUTRAL_POLICIES, help="neutral steps in formats with two classes"
        )
        parser.add_argument(
            "--splits",
            nargs="+",
            choices=SPLITS,
            help="splits in the file (default: all; without splits in its lines, only the pool)",
        )
        parser.add_argument(
            "--mixed-kinds",
            default="refuse",
            choices=MIXED_KINDS,
            help="labels of several source kinds in a format that does not state them",
        )
        parser.add_argument(
            "--preset", default="", choices=["", *PRESETS], help="begin with these filters; --filters replaces some"
        )
        made = parser.add_mutually_exclusive_group()
        made.add_argument("--filters", default="{}", help=FILTERS)
        made.add_argument("--snapshot", type=int, metavar="ID", help="write this snapshot instead of a new one")

    def handle(self, *args: Any, **options: Any) -> None:
        target, format = options["target"], options["format"]
        choices = {"neutral": options["neutral"], "splits": options["splits"], "mixed_kinds": options["mixed_kinds"]}
        try:
            snapshot = self._snapshot(find_project_by_slug(options["project"]), options)
            content = deliver_snapshot(
                by=None, snapshot=snapshot, format=format, via="command", target=target, **choices
            )
            write_place(target, content)
            write_place(f"{target}.md", [dataset_card(snapshot, **choices).encode()])
        except DomainError as error:
            raise CommandError(error.message) from None
        plan = plan_export(snapshot, format, **choices)
        self.stdout.write(f"{target}: {plan.solutions} solutions of {', '.join(plan.splits)}, card in {target}.md.")
        if lost := plan.sentences():
            self.stdout.write(f"Left out: {'; '.join(lost)}.")

    def _snapshot(self, project: Project, options: dict[str, Any]) -> Snapshot:
        if options["snapshot"] is not None:
            found = project.snapshots.filter(pk=options["snapshot"]).first()
            if found is None:
                raise CommandError(f"'{project.slug}' has no snapshot {options['snapshot']}.")
            return found
        try:
            filters = msgspec.json.decode(options["filters"], type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise CommandError(f"--filters is not a JSON object: {error}.") from None
        chosen = preset_filters(project, options["preset"], filters)
        return create_snapshot(by=None, project=project, filters=chosen)
