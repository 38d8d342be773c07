"""A translation that is not compiled is an error before the first page, not a page in English."""

import os

from labelling_ui.checks import check_catalogues
from launch.catalogues import compile_catalogues

SOURCE = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\nmsgid "Step"\nmsgstr "Schritt"\n'


def test_a_catalogue_that_is_missing_or_older_than_its_source_is_an_error(tmp_path, settings):
    settings.LOCALE_PATHS = [tmp_path]
    source = tmp_path / "de" / "LC_MESSAGES" / "django.po"
    source.parent.mkdir(parents=True)
    source.write_text(SOURCE)
    assert [error.id for error in check_catalogues()] == ["labelling_ui.E001"]
    compile_catalogues(tmp_path)
    assert check_catalogues() == []
    later = source.stat().st_mtime + 10
    os.utime(source, (later, later))
    assert [error.id for error in check_catalogues()] == ["labelling_ui.E001"]
