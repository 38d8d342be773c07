from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation.core import storage


class Command(BaseCommand):
    help = "Copy the files of the data folder into the bucket of STORAGE_URL. Run it while nothing else runs."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.STORAGE_URL:
            raise CommandError("STORAGE_URL is not set, so there is no bucket to copy to. Set it, then repeat this.")
        keys = list(storage.local_keys())
        for key in keys:
            storage.publish(key)
        self.stdout.write(f"{len(keys)} items are in {settings.STORAGE_URL}.")
