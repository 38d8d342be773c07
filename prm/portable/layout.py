"""The files of an exported folder, with the contents of its head file and description. No torch."""

from pathlib import Path

import msgspec

from prm.config import Feature
from prm.errors import ModelFileError
from prm.faults import UNDECODABLE, sentence_of
from prm.manifest import Manifest, file_sha256
from prm.messages import Message
from prm.threshold import Threshold
from prm.vocabulary import NeutralPolicy

HEADS_FILE = "heads.safetensors"
ABOUT_FILE = "stepmark.json"
LAYOUT_KEY = "stepmark"
HEADER = "stepmark"  # key of a `Head` in the head file's header
FORMAT = "stepmark-portable"
FORMAT_VERSION = 4


class Head(msgspec.Struct):
    """The settings for scoring with the head file's tensors.

    `part` is the ensemble of step scores; the token ids are those before the problem, after it and after each step.
    """

    part: str
    features: tuple[Feature, ...]
    neutral: NeutralPolicy
    temperature: float
    threshold: Threshold
    context: int
    start: tuple[int, ...]
    problem_end: tuple[int, ...]
    step_end: tuple[int, ...]


class StepLayout(msgspec.Struct):
    """How a classifier's text is laid out: ids before the problem, after it and after each step.

    It is the value of LAYOUT_KEY in `config.json`. A step's p(right) below `threshold` is an error.
    """

    start: tuple[int, ...]
    problem_end: tuple[int, ...]
    step_end: tuple[int, ...]
    context: int
    threshold: Threshold


class Description(msgspec.Struct):
    """The description of an exported folder: the manifest of its model, and every file's SHA-256."""

    manifest: Manifest
    checksums: dict[str, str]
    format: str = FORMAT
    format_version: int = FORMAT_VERSION


def read_description(folder: Path) -> Description:
    """Read and check an exported folder; raises ModelFileError with the reason."""
    path = folder / ABOUT_FILE
    try:
        description = msgspec.json.decode(path.read_bytes(), type=Description)
    except OSError as error:
        raise ModelFileError(Message("path_error", path=path, error=error.strerror)) from error
    except UNDECODABLE as error:
        raise ModelFileError(Message("file_corrupt", path=path, error=sentence_of(error))) from error
    if (description.format, description.format_version) != (FORMAT, FORMAT_VERSION):
        raise ModelFileError(
            Message(
                "layout_version_differs",
                path=path,
                found=description.format,
                version=description.format_version,
                known=FORMAT,
            )
        )
    for name, expected in description.checksums.items():
        if Path(name).name != name:
            raise ModelFileError(Message("file_outside_folder", path=path, name=name))
        if not (folder / name).is_file() or file_sha256(folder / name) != expected:
            raise ModelFileError(Message("described_file_corrupt", path=folder / name))
    return description
