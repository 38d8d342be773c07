from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import DomainError
from annotation.management.demo.creation import create_demo
from annotation.management.demo.demo_accounts import publish_passwords


class Command(BaseCommand):
    help = "Create the demo project with its accounts, labels, model and queue. A second run prints the accounts again."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            create_demo(say=lambda line: self.stderr.write(line, self.style.NOTICE))
        except DomainError as error:
            raise CommandError(error.message) from error
        self.stdout.write(publish_passwords())
