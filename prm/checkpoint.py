"""Reads and writes weights: atomically, as safetensors only, and checked before use."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from prm.errors import ModelFileError, PRMError
from prm.files import write_json
from prm.manifest import MANIFEST_FILE, WEIGHTS_FILE, Manifest, file_sha256, read_manifest
from prm.messages import Message

STATE_KEY = "state"
BACKBONE = "backbone."  # prefix of a tuned backbone's tensors; the others are the readout's
State = TypeVar("State")


def save_model(folder: Path, tensors: Mapping[str, Tensor], manifest: Manifest) -> Manifest:
    """Write weights, then the manifest with their checksum; a crash in between leaves an invalid folder."""
    (folder / MANIFEST_FILE).unlink(missing_ok=True)
    _save(folder / WEIGHTS_FILE, tensors, {})
    manifest = msgspec.structs.replace(manifest, checksums={WEIGHTS_FILE: file_sha256(folder / WEIGHTS_FILE)})
    write_json(folder / MANIFEST_FILE, manifest)
    return manifest


def load_model(folder: Path) -> tuple[Manifest, dict[str, Tensor]]:
    """Manifest and tensors of a model folder; raises ModelFileError with the reason."""
    manifest = read_manifest(folder)
    return manifest, _load(folder / WEIGHTS_FILE)


def save_state(path: Path, tensors: Mapping[str, Tensor], state: Any) -> None:
    """Write a resumable state to one file, with the msgspec struct `state` in its header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _save(path, tensors, {STATE_KEY: msgspec.json.encode(state).decode()})


def load_state(path: Path, kind: type[State]) -> tuple[State, dict[str, Tensor]]:
    """Read a state written by `save_state`. Raises ModelFileError if it is corrupt or foreign."""
    tensors = _load(path)
    with safe_open(path, framework="pt") as stream:
        header = stream.metadata() or {}
    try:
        return msgspec.json.decode(header[STATE_KEY], type=kind), tensors
    except (KeyError, msgspec.DecodeError) as error:
        raise ModelFileError(Message("not_a_training_state", path=path, error=error)) from error


def _save(path: Path, tensors: Mapping[str, Tensor], header: dict[str, str]) -> None:
    partial = path.with_name(path.name + ".partial")
    try:
        with weights_written(path):
            save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, partial, header)
        with open(partial, "rb") as written:
            os.fsync(written.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def weights_written(path: Path) -> Iterator[None]:
    """Convert the error of a full disk, which safetensors does not raise as an OSError, to a PRMError."""
    try:
        yield
    except SafetensorError as error:
        raise PRMError(Message("path_error", path=path, error=error)) from error


def _load(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise ModelFileError(Message("file_corrupt", path=path, error=error)) from error
