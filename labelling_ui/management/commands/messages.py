"""Update or check the translation catalogues."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from labelling_ui import catalogues


class Command(BaseCommand):
    help = "Bring the catalogues of all languages up to date; lists what is left to translate."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing; fail where anything is to be done")

    def handle(self, *, check: bool, **options: Any) -> None:
        left = catalogues.check_catalogues(write=not check)
        for line in left:
            self.stderr.write(line)
        if check and left:
            raise CommandError("Run `make messages`, translate what it lists in the .po files, run it again, commit.")
