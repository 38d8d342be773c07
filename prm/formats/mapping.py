"""Which column of a table holds what of a solution, and how its steps and labels are written there."""

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
Columns = Annotated[list[str], msgspec.Meta(min_length=1)]


class Column(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The value stands in this column of each row."""

    column: str


class StepsMapping(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Where the steps stand, by `form`, and in `kinds` a list of what kind each is.

    `list`: one column with a list, or with the JSON text of one. `separated`: one column with a text, cut at
    `separator`. `columns`: one step a column, up to the last that is filled. `text`: one column with a text that is
    split by the rule of the import.
    """

    columns: Columns
    form: StepsForm = "list"
    separator: Annotated[str, msgspec.Meta(min_length=1)] = "\n\n"
    kinds: str = ""


class SourceMapping(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Who gave the labels: the kind; who it was or which model; of Monte Carlo the policy and its rollouts a step."""

    kind: SourceKind | Column = "human"
    name: str | Column = ""
    policy: str | Column = ""
    rollouts: int | Column | None = None


class LabelMapping(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One label of each row: the index of its first error, or a value for each step.

    The first step has the index `base`. A cell that is one of the words `none` says that there is no error ("" is an
    empty cell, and null); any other empty cell says nothing. `scale` reads the values of steps: `sign` is 1, 0 or -1;
    `binary` is yes or no; `share` is
    the share of rollouts that came right, good where it is above `threshold` (Math-Shepherd's hard estimation at 0).
    """

    columns: Columns
    source: SourceMapping = msgspec.field(default_factory=SourceMapping)
    form: LabelForm = "first_error"
    base: Literal[0, 1] = 0
    none: list[str] = msgspec.field(default_factory=lambda: list(NO_ERROR))
    scale: Scale = "sign"
    threshold: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.0


class Mapping(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The columns of a table by what they hold; "" where none does.

    `question.text` is the key `text` of the object in the column `question`. Columns that are not named are kept with
    the solution, unless they are `left_out`, as are the values of the object in `extra`. `provenance` has the columns
    that say what made a solution. Of CSV files alone:
    `delimiter`, "" where the file tells it, and whether texts are `guarded`: an apostrophe stands before those that
    look like a formula.
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
    """A mapping from its JSON; raises FormatError (`invalid_mapping`) naming the field."""
    try:
        return msgspec.json.decode(content, type=Mapping)
    except msgspec.DecodeError as error:
        field, reason = fault_of(error)
        fault = Message("field_reason", field=field, reason=reason) if field else reason
        raise FormatError("invalid_mapping", Message("mapping_error", fault=fault), {"field": field}) from None
