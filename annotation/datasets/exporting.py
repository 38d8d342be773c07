"""A snapshot in a file format."""

from collections.abc import Iterator
from typing import get_args

from annotation.datasets.snapshots import read_snapshot, snapshot_file
from annotation.errors import DomainError
from annotation.formats import prm800k, trl
from annotation.models import Snapshot

FORMATS = ("prm800k", "trl", "records")
NEUTRAL = get_args(trl.Neutral)


def export_snapshot(snapshot: Snapshot, format: str, *, neutral: str = "positive") -> Iterator[bytes]:
    """Stream the snapshot as `prm800k`, `trl`, or `records` (the snapshot's own lines, with nothing left out).

    `neutral` says what becomes of neutral steps in `trl`, which has only yes and no; the other two keep
    all three classes. Raises DomainError (`unknown_format`, `unknown_policy`), Missing.
    """
    if format not in FORMATS:
        raise DomainError("unknown_format", f"There is no export format '{format}'; there are: {', '.join(FORMATS)}.")
    if neutral not in NEUTRAL:
        raise DomainError("unknown_policy", f"Neutral steps are {', '.join(NEUTRAL)}; not '{neutral}'.")
    path = snapshot_file(snapshot)
    if format == "records":
        return iter(path.open("rb"))
    records = read_snapshot(snapshot)
    return prm800k.write(records) if format == "prm800k" else trl.write(records, neutral=neutral)  # type: ignore[arg-type]


def export_name(snapshot: Snapshot, format: str) -> str:
    """A file name that tells project, content and format."""
    return f"{snapshot.project.slug}-{snapshot.sha256[:12]}-{format}.jsonl"
