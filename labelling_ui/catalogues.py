"""Update and check the translation catalogues without the system's gettext.

Django's own commands need gettext's programs; Babel does the same in Python. `launch.catalogues` compiles the result.
"""

import io
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract, extract_from_file
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

from prm import messages

CATALOGUES = Path(settings.LOCALE_PATHS[0])
PACKAGES = ("annotation", "config", "labelling_ui", "prm")
HEADERS = ("Language", "Plural-Forms", "MIME-Version", "Content-Type", "Content-Transfer-Encoding")
PLACEHOLDER = re.compile(r"%[^ ]")
KEYWORDS: dict[str, Any] = {
    **DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
}


def check_catalogues(*, write: bool) -> list[str]:
    """List the faults of the catalogues: messages that are untranslated, fuzzy, or differ from the sources.

    With `write`, first add the messages of the sources to each catalogue and remove the unused ones.
    """
    messages, objections = sources(), []
    for path in catalogues():
        catalogue = updated(path, messages)
        if write:
            path.write_bytes(as_po(catalogue))
        elif as_po(catalogue) != path.read_bytes():
            objections.append(f"{named(path)} differs from the messages in the sources")
        objections += [f"{named(path)}: {fault}" for fault in faults(catalogue)]
    return objections


def named(path: Path) -> str:
    """The catalogue's path as shown to a person."""
    return path.relative_to(settings.BASE_DIR).as_posix()


def catalogues() -> list[Path]:
    """The `.po` file of each language."""
    return sorted(CATALOGUES.glob("*/LC_MESSAGES/django.po"))


@cache
def sources() -> Catalog:
    """Every message of the Python code and the templates, with the files that contain it."""
    catalogue = Catalog()
    for path, rows in _extracted():
        for _line, message, comments, context in rows:
            catalogue.add(message, locations=[(named(path), 0)], auto_comments=comments, context=context)
    return catalogue


def updated(path: Path, messages: Catalog) -> Catalog:
    """A catalogue of exactly these messages, with the translations of the one at `path`."""
    with path.open("rb") as file:
        current = read_po(file, locale=path.parts[-3])
    catalogue = _Undated(locale=current.locale, header_comment=current.header_comment, fuzzy=False)
    for message in (one for one in messages if one.id):
        known = current.get(message.id, context=message.context) or message
        added = catalogue.add(
            message.id,
            known.string,
            locations=message.locations,
            flags=message.flags | (known.flags & {"fuzzy"}),
            auto_comments=message.auto_comments,
            user_comments=known.user_comments,
            context=message.context,
        )
        # In "95 % interval" Babel takes "% i" for a placeholder.
        if added.python_brace_format or not PLACEHOLDER.search(str(message.id)):
            added.flags.discard("python-format")
    return catalogue


def faults(catalogue: Catalog) -> Iterator[str]:
    """The faults of each message: untranslated, fuzzy, or with placeholders that differ from the English."""
    for message in catalogue:
        if not message.id:
            continue
        if not message.string or not all(message.string):
            yield f"not translated: {message.id!r}"
        elif message.fuzzy:
            yield f"in doubt (fuzzy): {message.id!r}"
        else:
            yield from (f"{error}: {message.id!r}" for error in message.check(catalogue))
            if message.python_brace_format and not _have_the_same_fields(message):
                yield f"other fields in braces: {message.id!r}"


def as_po(catalogue: Catalog) -> bytes:
    """The catalogue as text, without line numbers, so that only changed messages make a difference."""
    file = io.BytesIO()
    write_po(file, catalogue, width=110, include_lineno=False, sort_by_file=True)
    return file.getvalue()


def _extracted() -> Iterator[tuple[Path, list[Any]]]:
    for package in PACKAGES:
        for path in sorted((settings.BASE_DIR / package).rglob("*.py")):
            if "gettext" in path.read_text():  # the import of every function that marks a message
                yield path, extract_from_file("python", path, KEYWORDS, ["Translators:"])
        for path in sorted((settings.BASE_DIR / package).rglob("templates/**/*.html")):
            # What is no message is blanked out; what is left of its indentation would be none of Python's.
            lines = templatize(path.read_text(), origin=path.as_posix()).splitlines()
            blanked = io.BytesIO("\n".join(line.strip() for line in lines).encode())
            yield path, list(extract("python", blanked, KEYWORDS, ["Translators:"]))
    for module in messages.CATALOGUES:
        yield Path(str(module.__file__)), [(0, sentence, [], None) for sentence in module.SENTENCES.values()]


def _have_the_same_fields(message: Message) -> bool:
    """Whether each form of the translation has the placeholders of the English, with the same formats."""
    return _fields(message.string) == _fields(message.id)


def _fields(text: Any) -> set[tuple[str, str, str]]:
    """The placeholders of all forms of a message, with their formats."""
    forms = [text] if isinstance(text, str) else text
    parts = [part for form in forms for part in string.Formatter().parse(form)]
    return {(name, spec or "", conversion or "") for _text, name, spec, conversion in parts if name is not None}


class _Undated(Catalog):
    """A header without dates, so that the same translations give the same file every day."""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:
        return [(name, value) for name, value in super().mime_headers if name in HEADERS]
