from argparse import ArgumentParser
from tempfile import TemporaryFile
from typing import Any

import msgspec
from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import DomainError
from annotation.files.places import write_place
from annotation.labels.datasets.comparing import Change, diff_snapshots
from annotation.models import Snapshot


class Command(BaseCommand):
    help = "Compare two snapshots of a project: the labels that were added, changed and lost, by reason."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("old", type=int, help="id of a snapshot")
        parser.add_argument("new", type=int, help="id of a later snapshot")
        parser.add_argument("--out", help="also write every change as a line of JSON to this file or address")

    def handle(self, *args: Any, **options: Any) -> None:
        old, new = (self._snapshot(options[name]) for name in ("old", "new"))
        try:
            with TemporaryFile() as lines:

                def write(change: Change) -> None:
                    lines.write(msgspec.json.encode(change) + b"\n")

                diff = diff_snapshots(old, new, on_change=write)
                if options["out"]:
                    lines.seek(0)
                    write_place(options["out"], lines)
        except DomainError as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"{diff.same_labels} labels are the same in both.")
        for kind, reasons in diff.labels.items():
            for reason, n in reasons.items():
                self.stdout.write(f"{n} {kind}: {reason.replace('_', ' ')}")
        for reason, n in diff.consensus.items():
            self.stdout.write(f"{n} solutions have another consensus: {reason}")

    def _snapshot(self, key: int) -> Snapshot:
        snapshot = Snapshot.objects.filter(pk=key).first()
        if snapshot is None:
            raise CommandError(f"There is no snapshot {key}. The address of a snapshot's page has its id.")
        return snapshot
