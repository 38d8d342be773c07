"""Which files the import page was given: one or several, a folder, uploads in pieces, or a path in a storage."""

import uuid
from typing import Any, cast

import msgspec
from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.core.errors import DomainError, Missing
from annotation.files.import_jobs import Manner, import_files, import_from_root, import_uploads, read_options
from annotation.models import ImportJob, ImportOptions, Project
from labelling_ui.pages.mapping import mapping_of

OPTIONS = ("annotator", "labelled_by", "empty_steps", "source_groups", "thinking")


class Files(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files."""

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        given = data if isinstance(data, list | tuple) else [data] if data else []
        return [super(FilesField, self).clean(file, initial) for file in given]


class FilesForm(forms.Form):
    """Exactly one kind of source; `uploads` are the ids that the page's script got for what it sent in pieces."""

    file = FilesField(
        label=gettext_lazy("Files"),
        help_text=gettext_lazy("JSON, JSON Lines, CSV or Parquet, in UTF-8, also packed by gzip or zstd."),
        allow_empty_file=True,
        required=False,
        widget=Files,
    )
    folder = FilesField(
        label=gettext_lazy("or a folder"),
        help_text=gettext_lazy("All files in it and below, each with its own report."),
        allow_empty_file=True,
        required=False,
        widget=Files(attrs={"webkitdirectory": True}),
    )
    uploads = forms.CharField(required=False, widget=forms.HiddenInput)
    root = forms.ChoiceField(label=gettext_lazy("From a storage"), required=False)
    path = forms.CharField(
        label=gettext_lazy("Path in it"),
        help_text=gettext_lazy("A file, a folder, or a pattern such as runs/*.jsonl.gz."),
        max_length=1000,
        required=False,
    )

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        if settings.IMPORT_ROOTS:
            root = cast(forms.ChoiceField, self.fields["root"])
            root.choices = [("", _("none: upload")), *((name, name) for name in settings.IMPORT_ROOTS)]
        else:
            del self.fields["root"], self.fields["path"]

    def clean_uploads(self) -> list[uuid.UUID]:
        try:
            return [uuid.UUID(given) for given in self.cleaned_data["uploads"].split(",") if given]
        except ValueError:
            raise forms.ValidationError(_("These uploads are not known; choose the files again.")) from None

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if not any(given.get(source) for source in ("file", "folder", "uploads", "root")) and not self.errors:
            self.add_error("file", _("Choose a file."))
        return given


def start(*, by: User, project: Project, form: FilesForm, given: QueryDict) -> list[ImportJob]:
    """Start what the form asks for. Raises DomainError."""
    said = form.cleaned_data
    manner = Manner(said["format"], said["decomposition"], options_of(given))
    try:
        if said["uploads"]:
            return import_uploads(by=by, project=project, uploads=said["uploads"], manner=manner)
        if said.get("root"):
            return import_from_root(by=by, project=project, root=said["root"], path=said["path"], manner=manner)
        files = [(file.name, file.chunks()) for file in [*said["file"], *said["folder"]]]
        return import_files(by=by, project=project, files=files, manner=manner)
    except Missing as error:
        raise DomainError(error.message, error.extra, code=error.code) from error


def options_of(given: QueryDict) -> ImportOptions:
    """The options that the page's fields say. Raises DomainError (`invalid_options`)."""
    named = {name: given[name] for name in OPTIONS if given.get(name)}
    return msgspec.structs.replace(read_options(named), mapping=mapping_of(given))
