"""Mappings from the columns of a table to the parts of a solution, its steps and its labels."""

from typing import Annotated, Literal

import msgspec

from prm.errors import FormatError
from prm.faults import fault_of
from prm.messages import Message
from prm.vocabulary import SourceKind

StepsForm = Literal["list", "separated", "columns", "text"]
LabelForm = Literal["first_error", "ratings"]
Scale = Literal["sign", "binary", "share"]
Delimiter = Literal["", ",", ";", "\t", "|"]
NO_ERROR = ("-1", "N/A")
MadeBy = Literal["policy", "temperature", "seed", "prompt", "scaffold", "visibility", "run", "settings"]
Drawn = Literal["annotator", "revision", "lane", "generation", "inclusion_probability", "guidelines", "finish_reason"]
Columns = Annotated[list[str], msgspec.Meta(min_length=1)]


class Column(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A value that each row has in this column."""

    column: str


class StepsMapping(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The columns of the steps, in one of four forms; `kinds` is the column of a list with the kind of each step.

    `list`: one column with a list or its JSON text. `separated`: one column with a text, split at `separator`.
    `columns`: one step per column, up to the last filled one. `text`: one column with a text, split by the rule of the
    import.
    """

    columns: Columns
    form: StepsForm = "list"
    separator: Annotated[str, msgspec.Meta(min_length=1)] = "\n\n"
    kinds: str = ""


class SourceMapping(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The source of the labels: its kind, its name, and for Monte Carlo the policy and its rollouts per step."""

    kind: SourceKind | Column = "human"
    name: str | Column = ""
    policy: str | Column = ""
    rollouts: int | Column | None = None


class LabelMapping(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The columns of a label: the index of the first error, or a value for each step.

    The first step has the index `base`. A cell with one of the words in `none` means no error ("" is an empty cell, or
    null). Without "" in `none`, an empty cell means that there is no label. `scale` is the scale of step values: `sign`
    is 1, 0 or -1; `binary` is yes or no; `share` is the share of correct rollouts, good above `threshold` (0 is
    Math-Shepherd's hard estimation). `drawn` maps the annotator, the revision, how the solution was chosen for
    labelling, the version of the guidelines, and how labelling ended to columns.
    """

    columns: Columns
    source: SourceMapping = msgspec.field(default_factory=SourceMapping)
    form: LabelForm = "first_error"
    base: Literal[0, 1] = 0
    none: list[str] = msgspec.field(default_factory=lambda: list(NO_ERROR))
    scale: Scale = "sign"
    threshold: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.0
    drawn: dict[Drawn, str] = {}


class Mapping(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The column of each part of a solution; "" for a part without a column.

    `question.text` is the key `text` of the object in the column `question`. Columns that the mapping does not name are
    stored with the solution unless they are `left_out`, and so are the values of the object in `extra`. `provenance`
    maps fields of `Provenance` to columns. For CSV only: `delimiter` ("" detects it), and `guarded` if an apostrophe
    precedes texts that look like a formula.
    """

    problem: str = ""
    steps: StepsMapping | None = None
    labels: list[LabelMapping] = []
    final_answer: str = ""
    final_answer_correct: str = ""
    reference_answer: str = ""
    reference_solution: str = ""
    domain: str = ""
    source_group: str = ""
    generator: str = ""
    external_id: str = ""
    outcome_source: str = ""
    provenance: dict[MadeBy, str] = {}
    extra: str = ""
    left_out: list[str] = []
    delimiter: Delimiter = ""
    guarded: bool = False


def parse_mapping(content: bytes | str) -> Mapping:
    """The mapping in a JSON text; raises FormatError (`invalid_mapping`) naming the field."""
    try:
        return msgspec.json.decode(content, type=Mapping)
    except msgspec.DecodeError as error:
        field, reason = fault_of(error, Mapping)
        fault = Message("field_reason", field=field, reason=reason) if field else reason
        raise FormatError("invalid_mapping", Message("mapping_error", fault=fault), {"field": field}) from None
