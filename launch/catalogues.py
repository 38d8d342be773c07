"""Compiles the translations that Django reads. Like the front end, they are built, not committed.

python -m launch.catalogues    compile the catalogues whose source has changed
"""

import os
import sys
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from launch.errors import exit_status
from launch.options import BASE_DIR

SOURCES = BASE_DIR / "locale"


def compile_catalogues(sources: Path = SOURCES) -> None:
    """Compile every `django.po` below `sources` that has no `django.mo` or an older one."""
    for source in sorted(sources.glob("*/LC_MESSAGES/django.po")):
        compiled = source.with_suffix(".mo")
        if compiled.exists() and compiled.stat().st_mtime >= source.stat().st_mtime:
            continue
        with source.open("rb") as file:
            catalogue = read_po(file, locale=source.parts[-3])
        partial = compiled.with_name(f"{compiled.name}.{os.getpid()}")  # two processes may compile at the same time
        with partial.open("wb") as file:
            write_mo(file, catalogue)
        partial.replace(compiled)


if __name__ == "__main__":
    sys.exit(exit_status(compile_catalogues))
