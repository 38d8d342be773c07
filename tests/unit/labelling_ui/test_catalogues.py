"""Every language says what the pages say; the catalogues are read and compiled in Python alone."""

import gettext

import pytest
from babel.messages.catalog import Catalog

from labelling_ui import catalogues


@pytest.fixture(scope="module")
def messages() -> Catalog:
    return catalogues.sources()


@pytest.mark.slow
def test_no_message_is_missing_or_in_doubt() -> None:
    assert catalogues.check_catalogues(write=False) == []


def test_messages_come_from_templates_and_from_python(messages: Catalog) -> None:
    assert messages.get("Skip to the content")  # {% translate %} in an indented template
    assert messages.get(("%(n)s row", "%(n)s rows"))  # {% blocktranslate count %}
    assert messages.get("A pause between similar solutions") is None  # the workbench has catalogues of its own
    assert messages.get("Finish the solutions you have first.")  # gettext_lazy
    assert messages.get("Choose at least one more source to compare with, or choose none.")  # gettext by its own name


@pytest.mark.parametrize(
    ("string", "flags", "fault"),
    [("", (), "not translated"), ("%(n)s Zeilen", ("fuzzy",), "in doubt"), ("%(m)s Zeilen", (), "placeholder")],
)
def test_a_faulty_translation_is_named(string: str, flags: tuple[str, ...], fault: str) -> None:
    catalogue = Catalog(locale="de")
    catalogue.add("%(n)s rows found", string, flags=("python-format", *flags))
    (found,) = catalogues.faults(catalogue)
    assert fault in found
    assert "rows found" in found


def test_what_is_compiled_says_what_was_written() -> None:
    (path,) = catalogues.catalogues()
    german = gettext.GNUTranslations(path.with_suffix(".mo").open("rb"))
    assert german.gettext("Settings") == "Einstellungen"
    assert german.ngettext("%(n)s row", "%(n)s rows", 2) == "%(n)s Zeilen"
