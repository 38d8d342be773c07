"""System checks: files that must be built before a page is shown."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def check_catalogues(**_: Any) -> list[CheckMessage]:
    """An error for each language whose compiled catalogue is missing or older than its source.

    Django would show such pages in English without a warning.
    """
    return [
        Error(
            f"The translations in {source} are not compiled.",
            hint="Run `python -m launch.catalogues`.",
            id="labelling_ui.E001",
        )
        for folder in settings.LOCALE_PATHS
        for source in sorted(Path(folder).glob("*/LC_MESSAGES/django.po"))
        if not _is_compiled(source)
    ]


def _is_compiled(source: Path) -> bool:
    compiled = source.with_suffix(".mo")
    return compiled.exists() and compiled.stat().st_mtime >= source.stat().st_mtime
