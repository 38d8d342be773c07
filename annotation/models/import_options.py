"""How an import reads its file, beyond the name of its format."""

from typing import Any

import msgspec

from annotation.formats.mapping import Mapping
from annotation.formats.record import SourceKind


class ImportOptions(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`mapping` tells what the columns of a table hold; None where the format has no columns, or proposes them.

    `source_kind` is the kind of the labels whose line does not say it; None where every line does.
    """

    mapping: Mapping | None = None
    source_kind: SourceKind | None = None


def parse_options(value: dict[str, Any]) -> ImportOptions:
    """Raises msgspec.ValidationError naming the field."""
    return msgspec.convert(value, ImportOptions)
