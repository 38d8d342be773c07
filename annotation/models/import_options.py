"""How an import reads its file, beyond the name of its format."""

from typing import Any

import msgspec

from annotation.formats.mapping import Mapping
from prm.splitting import Thinking


class ImportOptions(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`mapping` says what the columns of a table hold; None where the format has no columns, or proposes them.

    `thinking` says what happens to hidden reasoning (`<think>`) in solutions that come as one text.
    """

    mapping: Mapping | None = None
    thinking: Thinking = "separate"


def parse_options(value: dict[str, Any]) -> ImportOptions:
    """Raises msgspec.ValidationError naming the field."""
    return msgspec.convert(value, ImportOptions)
