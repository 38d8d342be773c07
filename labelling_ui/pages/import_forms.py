"""The forms of an import: its source, its format and its options."""

import uuid
from typing import Any, cast

import msgspec
from django import forms
from django.conf import settings
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.wording import in_words
from annotation.files.import_jobs import read_options
from annotation.models import ImportOptions
from labelling_ui.pages.mapping import mapping_of
from prm.formats.registry import FORMATS

RULES = [
    ("automatic", _("automatically, from the text")),
    ("blank_lines", _("at blank lines")),
    ("lines", _("at every line")),
    ("numbered", _("at “Step 1”, “2.” and the like")),
    ("sentences", _("at every sentence")),
    ("turns", _("at the turns of an agent (Thought, Action, <tool_call>)")),
]


class StorageForm(forms.Form):
    """A path in one of the operator's import folders or buckets; without any, the form has no such fields."""

    root = forms.ChoiceField(label=_("Storage"), required=False)
    path = forms.CharField(label=_("Path"), max_length=1000, required=False)

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        if settings.IMPORT_ROOTS:
            root = cast(forms.ChoiceField, self.fields["root"])
            root.choices = [("", gettext("none: upload")), *((name, name) for name in settings.IMPORT_ROOTS)]
        else:
            del self.fields["root"], self.fields["path"]


class Files(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files."""

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data if isinstance(data, list | tuple) else [data] if data else []
        return [super(FilesField, self).clean(file, initial) for file in files]


class FilesForm(StorageForm):
    """The source of an import, exactly one kind; `uploads` are ids of files that the page uploaded in pieces."""

    file = FilesField(
        label=_("Files"),
        help_text=_(
            "Choose them, or drop them on this page: JSON Lines, a JSON array, CSV, Parquet or plain text (.txt), also "
            "gzip or zstd."
        ),
        allow_empty_file=True,
        required=False,
        widget=Files,
    )
    folder = FilesField(
        label=_("Folder"),
        help_text=_("All files in the folder and its subfolders, each with its own report."),
        allow_empty_file=True,
        required=False,
        widget=Files(attrs={"webkitdirectory": True}),
    )
    uploads = forms.CharField(required=False, widget=forms.HiddenInput)
    path = forms.CharField(
        label=_("Path"),
        help_text=_("A file, a folder, or a pattern such as runs/*.jsonl.gz."),
        max_length=1000,
        required=False,
    )

    def clean_uploads(self) -> list[uuid.UUID]:
        try:
            return [uuid.UUID(upload) for upload in self.cleaned_data["uploads"].split(",") if upload]
        except ValueError:
            unknown = gettext("The server does not know these uploads. Choose the files again.")
            raise forms.ValidationError(unknown) from None

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not any(data.get(source) for source in ("file", "folder", "uploads", "root")) and not self.errors:
            self.add_error("file", gettext("Choose a file."))
        return data


def format_choices() -> list[tuple[str, str]]:
    """The choices of the format field: detection, and every registered format."""
    formats = [(name, in_words(FORMATS.get(name).label)) for name in FORMATS]
    return [("auto", gettext("detect automatically")), *formats]


class ImportForm(FilesForm):
    format = forms.ChoiceField(
        choices=format_choices,
        label=_("Format"),
    )
    decomposition = forms.ChoiceField(
        choices=RULES,
        label=_("Split solutions into steps"),
        help_text=_("Applies only to solutions given as one text. Formulas and code are never split."),
    )

    annotator = forms.CharField(
        label=_("Annotator"),
        help_text=_("The annotator of labels that name none. Exports have a random pseudonym for a person."),
        max_length=200,
        required=False,
    )
    labelled_by = forms.ChoiceField(
        choices=[
            ("file", _("as in the file")),
            ("model_judge", _("a model judge")),
            ("monte_carlo", _("Monte Carlo rollouts")),
            ("heuristic", _("a heuristic")),
            ("simulated", _("simulated annotators")),
        ],
        label=_("Labels come from"),
        initial="file",
        required=False,
    )
    empty_steps = forms.ChoiceField(
        choices=[
            ("keep", _("keep them as empty steps")),
            ("refuse", _("reject the solution")),
        ],
        label=_("Steps without text"),
        initial="keep",
        required=False,
    )
    no_solution = forms.ChoiceField(
        choices=[
            ("refuse", _("reject the record")),
            ("keep", _("import the problem, to be sampled")),
        ],
        label=_("Problems without a solution"),
        initial="refuse",
        required=False,
    )
    source_groups = forms.ChoiceField(
        choices=[
            ("template", _("problems that differ only in numbers")),
            ("text", _("problems with the same text")),
        ],
        label=_("Source groups"),
        help_text=_(
            "A group is in the pool, in calibration or in the holdout as a whole. Only for problems without a "
            "source_group."
        ),
        initial="template",
        required=False,
    )
    thinking = forms.ChoiceField(
        choices=[
            ("separate", _("store it with the solution, unrated")),
            ("drop", _("discard it")),
            ("keep", _("split it into steps as well")),
        ],
        label=_("Hidden reasoning (<think>)"),
        help_text=_("Applies only to solutions given as one text."),
        required=False,
    )


class TextForm(forms.Form):
    """A text to try the splitting rules on."""

    rule = forms.ChoiceField(
        choices=RULES,
        label=_("Split into steps"),
    )
    text = forms.CharField(
        max_length=100_000,
        label=_("A solution"),
        widget=forms.Textarea({"rows": 8, "placeholder": _("Paste a solution of your own.")}),
    )


def options_of(posted: QueryDict) -> ImportOptions:
    """The import options from the page's fields. Raises DomainError (`invalid_options`)."""
    named = {name: posted[name] for name in ImportOptions.__struct_fields__ if posted.get(name)}
    return msgspec.structs.replace(read_options(named), mapping=mapping_of(posted))
