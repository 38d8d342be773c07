"""How an import reads its file, beyond the name of its format."""

from typing import Annotated, Any, Literal

import msgspec

from prm.formats.mapping import Mapping
from prm.splitting import Thinking

EmptySteps = Literal["keep", "refuse"]
SourceGroups = Literal["template", "text"]
LabelledBy = Literal["file", "model_judge", "monte_carlo", "heuristic", "simulated"]


class ImportOptions(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`mapping` says what the columns of a table hold; None if the format has no columns, or proposes them.

    `annotator` names who gave the labels that name nobody. `labelled_by` is the kind of the labels of which the file
    does not say that a machine gave them; "file" leaves the kind that the format means. A step without text is kept as
    an empty step, or refused with its record. Problems without a `source_group` share one if their texts differ only in
    numbers (`template`), or if they are the same text. `thinking` says what happens to hidden reasoning (`<think>`) in
    solutions that come as one text.
    """

    mapping: Mapping | None = None
    annotator: Annotated[str, msgspec.Meta(max_length=200)] = ""
    labelled_by: LabelledBy = "file"
    empty_steps: EmptySteps = "keep"
    source_groups: SourceGroups = "template"
    thinking: Thinking = "separate"


def parse_options(value: dict[str, Any]) -> ImportOptions:
    """Raises msgspec.ValidationError naming the field."""
    return msgspec.convert(value, ImportOptions)
