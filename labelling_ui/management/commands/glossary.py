"""The documentation's copy of the glossary."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from labelling_ui.glossary import as_markdown


class Command(BaseCommand):
    help = "Write docs/glossary.md from labelling_ui/glossary.py."

    def handle(self, **_options: Any) -> None:
        (settings.BASE_DIR / "docs" / "glossary.md").write_text(as_markdown())
