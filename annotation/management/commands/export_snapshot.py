from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import msgspec
from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import DomainError
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.filters import SnapshotFilters
from annotation.labels.datasets.plans import plan_export
from annotation.labels.datasets.presets import PRESETS, preset_filters
from annotation.labels.datasets.snapshot_export import export_snapshot
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Project
from prm.exporters import EXPORTERS
from prm.vocabulary import NEUTRAL_POLICIES, SPLITS

FILTERS = 'JSON, such as {"source_kinds": ["human"]}; filters: ' + ", ".join(SnapshotFilters.__struct_fields__)


class Command(BaseCommand):
    help = "Make a snapshot of a project's labels and write it to a file, with a dataset card (FILE.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--project", required=True, help="address (slug) of the project")
        parser.add_argument("--format", default="prm800k", choices=EXPORTERS.names())
        parser.add_argument("--neutral", default="positive", choices=NEUTRAL_POLICIES, help="neutral steps in TRL")
        parser.add_argument(
            "--splits", nargs="+", choices=SPLITS, help="splits in the file (default: all; for TRL, only the pool)"
        )
        parser.add_argument(
            "--preset", default="", choices=["", *PRESETS], help="begin with these filters; --filters replaces some"
        )
        parser.add_argument("--filters", default="{}", help=FILTERS)

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        choices = {"neutral": options["neutral"], "splits": options["splits"]}
        try:
            project = Project.objects.get(slug=options["project"])
            filters = msgspec.json.decode(options["filters"], type=dict[str, Any])
            chosen = preset_filters(project, options["preset"], filters)
            snapshot = create_snapshot(by=None, project=project, filters=chosen)
            content = export_snapshot(snapshot, options["format"], **choices)
        except Project.DoesNotExist:
            raise CommandError(f"There is no project '{options['project']}'.") from None
        except msgspec.DecodeError as error:
            raise CommandError(f"--filters is not a JSON object: {error}.") from None
        except DomainError as error:
            raise CommandError(error.message) from None
        partial = file.with_name(file.name + ".partial")
        with partial.open("wb") as out:
            out.writelines(content)
        partial.replace(file)
        card = file.with_name(file.name + ".md")
        card.write_text(dataset_card(snapshot, **choices))
        plan = plan_export(snapshot, options["format"], **choices)
        self.stdout.write(f"{file}: {plan.solutions} solutions of {', '.join(plan.splits)}, card in {card}.")
        if lost := plan.sentences():
            self.stdout.write(f"Left out: {'; '.join(lost)}.")
