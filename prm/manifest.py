"""What a model folder says about itself, and the check that it is whole. No torch."""

import hashlib
from pathlib import Path

import msgspec

from prm.config import TrainConfig
from prm.errors import ModelFileError
from prm.provenance import Provenance

FORMAT = "stepmark-prm"
FORMAT_VERSION = 1
MANIFEST_FILE = "manifest.json"
WEIGHTS_FILE = "model.safetensors"


class PositionCount(msgspec.Struct):
    """How many labelled steps stood at some positions, and how many of them were errors."""

    steps: int
    bad: float


class Counts(msgspec.Struct):
    """What the training data held; steps are those of the training part, alternatives included.

    `good` and `bad` are sums of targets under the neutral policy, before reliability weights; `neutral` is the
    sum of that posterior. `ignored` steps carried no label or no weight, `not_scored` lay beyond the context.
    `alternatives` were read beside their solutions' paths and make `pairs` with the other labelled completions
    of their positions. `by_position` counts from position 1. `left_out` solutions of the pool share
    their problem with the calibration split. Answers are counted where the outcome is learned. `provenance` is
    of all labelled solutions, those held among them; None in a manifest written before there was one.
    """

    solutions: int
    problems: int
    held_solutions: int
    steps: int
    good: float
    bad: float
    ignored: int
    not_scored: int
    neutral: float = 0.0
    alternatives: int = 0
    pairs: int = 0
    left_out: int = 0
    right_answers: int = 0
    wrong_answers: int = 0
    by_position: dict[str, PositionCount] = {}
    provenance: Provenance | None = None


class Manifest(msgspec.Struct):
    """A trained model. `fitted_on` names the data behind `temperature` and `threshold`:
    "calibration" (that split), "validation" (source groups of the pool set aside) or "none"."""

    base: str
    base_sha256: str
    config: TrainConfig
    data_sha256: str
    counts: Counts
    temperature: float
    threshold: float
    fitted_on: str
    metrics: dict[str, float]
    created_at: str
    seconds: float
    versions: dict[str, str]
    checksums: dict[str, str]
    outcome_temperature: float = 1.0
    format: str = FORMAT
    format_version: int = FORMAT_VERSION


def read_manifest(folder: Path) -> Manifest:
    """Read and check a model folder's manifest and checksums; raises ModelFileError with the reason."""
    path = folder / MANIFEST_FILE
    try:
        raw = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise ModelFileError(f"{path}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise ModelFileError(f"{path} is corrupt: {error}") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a manifest of this library")
    if raw.get("format_version") != FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {raw.get('format_version')}, this library reads {FORMAT_VERSION}: train again"
        )
    try:
        manifest = msgspec.convert(raw, Manifest)
    except msgspec.ValidationError as error:
        raise ModelFileError(f"{path} is corrupt: {error}") from error
    if WEIGHTS_FILE not in manifest.checksums:
        raise ModelFileError(f"{path} names no checksum of {WEIGHTS_FILE}")
    for name, expected in manifest.checksums.items():
        _check_file(folder, name, expected)
    return manifest


def file_sha256(path: Path) -> str:
    """Hex digest of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _check_file(folder: Path, name: str, expected: str) -> None:
    if Path(name).name != name:
        raise ModelFileError(f"{folder / MANIFEST_FILE} names a file outside its folder: {name}")
    try:
        found = file_sha256(folder / name)
    except OSError as error:
        raise ModelFileError(f"{folder / name}: {error.strerror}") from error
    if found != expected:
        raise ModelFileError(f"{folder / name} is corrupt: its checksum is not the manifest's")
