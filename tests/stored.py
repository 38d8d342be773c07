"""Where the files of the platform are."""

from pathlib import Path

from annotation.core import storage
from annotation.models import Snapshot


def snapshot_file(snapshot: Snapshot) -> Path:
    """The path of a snapshot's file."""
    return storage.path_of(f"snapshots/{snapshot.path}")
