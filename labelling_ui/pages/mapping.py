"""The column mapping of a table on the import page: shown as detected, corrected by a person."""

from collections.abc import Iterator
from typing import Any, get_args

import msgspec
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.errors import DomainError
from annotation.files.import_preview import Preview
from annotation.models import choices
from prm.faults import sentence_of
from prm.formats import cells
from prm.formats.mapping import Column, MadeBy, Mapping, StepsMapping
from prm.formats.rows import WORDS, cell_of
from prm.formats.table import Sample
from prm.messages import Message

EXAMPLES = 2
LONGEST_EXAMPLE = 80
STEPS = {"list": "steps_list", "separated": "steps_separated", "columns": "steps_columns", "text": "steps_text"}
HOLDS = [
    ("", _("other: keep with the solution")),
    ("left_out", _("ignore")),
    (
        _("The solution"),
        [
            ("problem", _("problem")),
            ("steps_list", _("steps, as a list")),
            ("steps_separated", _("steps, as one text with a separator")),
            ("steps_columns", _("one step (one column per step)")),
            ("steps_text", _("solution text, to split into steps")),
            ("kinds", _("step kinds, as a list")),
            ("final_answer", _("final answer")),
            ("final_answer_correct", _("final answer is correct (yes or no)")),
            ("outcome_source", _("source of the outcome")),
            ("external_id", _("solution id")),
            ("generator", _("policy model")),
        ],
    ),
    (
        _("Labels"),
        [
            ("first_error", _("label: index of the first error")),
            ("ratings", _("label: ratings of the steps, as a list")),
            ("ratings_columns", _("label: rating of one step (one column per step)")),
            ("source_kind", _("source kind of the labels")),
            ("source_name", _("annotator or source of the labels")),
            ("source_policy", _("policy model of the rollouts")),
            ("source_rollouts", _("number of rollouts")),
        ],
    ),
    (
        _("The problem"),
        [
            ("reference_answer", _("reference answer")),
            ("reference_solution", _("reference solution")),
            ("domain", _("domain")),
            ("source_group", _("source group")),
        ],
    ),
    (
        _("Provenance"),
        [
            ("made_by_policy", _("policy model and checkpoint")),
            ("made_by_temperature", _("temperature")),
            ("made_by_seed", _("seed")),
            ("made_by_prompt", _("prompt")),
            ("made_by_scaffold", _("scaffold")),
            ("made_by_visibility", _("visibility: raw, summary or redacted")),
            ("made_by_run", _("run")),
            ("made_by_settings", _("other settings, as an object")),
            ("extra", _("other values, as an object")),
        ],
    ),
]
SCALES = [
    ("sign", _("1, 0 or -1")),
    ("binary", _("1 for good, 0 for bad")),
    ("share", _("share of correct rollouts; above 0 is good")),
]
DELIMITERS = [
    (",", _("commas")),
    (";", _("semicolons")),
    ("\t", _("tabs")),
    ("|", _("vertical bars")),
]
SEPARATORS = {"\\n": "\n", "\\t": "\t"}


def mapping_of(posted: QueryDict) -> Mapping | None:
    """The mapping from the form's fields; None if it has none. Raises DomainError (`invalid_mapping`)."""
    columns, holds = posted.getlist("column"), posted.getlist("holds")
    if not columns or len(columns) != len(holds):
        return None
    holding: dict[str, list[tuple[int, str]]] = {}
    for number, (column, held) in enumerate(zip(columns, holds, strict=True)):
        holding.setdefault(held, []).append((number, column))

    def first(held: str) -> str:
        return holding[held][0][1] if held in holding else ""

    mapping = {
        **{field: first(field) for field in WORDS},
        "steps": _steps(holding, posted),
        "labels": list(_labels(holding, posted)),
        "provenance": {field: first(f"made_by_{field}") for field in get_args(MadeBy) if f"made_by_{field}" in holding},
        "left_out": [column for _, column in holding.get("left_out", [])],
        "delimiter": posted.get("delimiter", ""),
        "guarded": posted.get("guarded") == "on",
    }
    try:
        return msgspec.convert(mapping, Mapping)
    except msgspec.ValidationError as error:
        raise DomainError(Message("columns_unreadable", error=sentence_of(error)), code="invalid_mapping") from None


def for_page(preview: Preview) -> dict[str, Any]:
    """The context of the mapping's part of the page; empty if the file is not a table."""
    if preview.begun is None or preview.mapping is None:
        return {}
    steps = preview.mapping.steps or StepsMapping(["-"])
    named = dict(DELIMITERS)
    detected = gettext("detect from the file (%(delimiter)s)") % {"delimiter": named.get(preview.delimiter, "")}
    return {
        "columns": _columns(preview.mapping, preview.begun),
        "choices": {
            "holds": HOLDS,
            "scales": SCALES,
            "kinds": choices.SOURCE_KINDS,
            "delimiters": [("", detected), *DELIMITERS],
        },
        "separator": steps.separator.replace("\n", "\\n").replace("\t", "\\t"),
    }


def _columns(mapping: Mapping, begun: Sample) -> list[dict[str, Any]]:
    """Each column with its first values, its role, and the details of the label in it."""
    held = _held(mapping)
    labels = {column: label for label in mapping.labels for column in label.columns[:1]}
    names = [*begun.columns, *(column for column in held if column not in begun.columns)]
    return [
        {
            "name": name,
            "examples": _examples(name, begun),
            "holds": held.get(name, ""),
            "label": labels.get(name),
            "source": labels[name].source if name in labels else None,
            "none": ", ".join(word or "empty" for word in labels[name].none) if name in labels else "",
        }
        for name in names
    ]


def _held(mapping: Mapping) -> dict[str, str]:
    held = {getattr(mapping, field): field for field in WORDS}
    held |= {column: f"made_by_{field}" for field, column in mapping.provenance.items()}
    held |= dict.fromkeys(mapping.left_out, "left_out")
    for label in mapping.labels:
        form = "ratings_columns" if len(label.columns) > 1 else label.form
        held |= dict.fromkeys(label.columns, form)
        for field in ("kind", "name", "policy", "rollouts"):
            if isinstance(holding := getattr(label.source, field), Column):
                held[holding.column] = f"source_{field}"
    if mapping.steps:
        held |= dict.fromkeys(mapping.steps.columns, STEPS[mapping.steps.form])
        held[mapping.steps.kinds] = "kinds"
    held.pop("", None)
    return held


def _steps(holding: dict[str, list[tuple[int, str]]], posted: QueryDict) -> dict[str, Any] | None:
    for form, held in STEPS.items():
        if held in holding:
            columns = [column for _, column in holding[held]]
            separator = posted.get("separator") or msgspec.structs.fields(StepsMapping)[2].default
            for written, meant in SEPARATORS.items():
                separator = separator.replace(written, meant)
            kinds = holding["kinds"][0][1] if "kinds" in holding else ""
            return {
                "columns": columns if form == "columns" else columns[:1],
                "form": form,
                "separator": separator,
                "kinds": kinds,
            }
    return None


def _labels(holding: dict[str, list[tuple[int, str]]], posted: QueryDict) -> Iterator[dict[str, Any]]:
    for form in ("first_error", "ratings"):
        for number, column in holding.get(form, []):
            yield {"columns": [column], "form": form, **_details(number, holding, posted)}
    if several := holding.get("ratings_columns"):
        columns = [column for _, column in several]
        yield {"columns": columns, "form": "ratings", **_details(several[0][0], holding, posted)}


def _details(number: int, holding: dict[str, list[tuple[int, str]]], posted: QueryDict) -> dict[str, Any]:
    """How the label is written, and its source: one for all rows, or a column."""

    def of_field(field: str) -> Any:
        if found := holding.get(f"source_{field}"):
            return {"column": found[0][1]}
        return posted.get(f"{field}-{number}", "").strip()

    source = {field: of_field(field) for field in ("kind", "name", "policy")}
    source["kind"] = source["kind"] or "heuristic"
    rollouts = of_field("rollouts")
    if isinstance(rollouts, dict) or rollouts.isdecimal():
        source["rollouts"] = rollouts if isinstance(rollouts, dict) else int(rollouts)
    details: dict[str, Any] = {"source": source}
    if (base := posted.get(f"base-{number}")) in ("0", "1"):
        details["base"] = int(base)
    if f"none-{number}" in posted:
        named = [word.strip() for word in str(posted[f"none-{number}"]).split(",")]
        details["none"] = ["" if word.casefold() == "empty" else word for word in named if word]
    if scale := posted.get(f"scale-{number}"):
        details["scale"] = scale
    return details


def _examples(column: str, begun: Sample) -> list[str]:
    values = (cell_of(row, column) for row in begun.rows)
    filled = [value for value in values if not cells.is_empty(value)][:EXAMPLES]
    shown = [value if isinstance(value, str) else msgspec.json.encode(value).decode() for value in filled]
    return [text if len(text) <= LONGEST_EXAMPLE else text[:LONGEST_EXAMPLE] + "…" for text in shown]
