"""Writes the card of a model folder from its files. No torch."""

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from prm.cards.model import About, Audit, model_card
from prm.errors import DataError
from prm.evaluation.evaluation import Evaluation, read_evaluations
from prm.files import read_json, write_atomic
from prm.manifest import WEIGHTS_FILE, Manifest, read_manifest
from prm.messages import Message

CARD_FILE = "CARD.md"
ABOUT_FILE = "about.json"
EVALUATIONS_FOLDER = "evaluations"
AUDIT_FILE, AUDIT_REPORT_FILE = "AUDIT.md", "report.json"


def write_card(folder: Path) -> str:
    """Write and return CARD.md of a model folder.

    It uses the manifest, `evaluations/*.json`, `about.json`, and each AUDIT.md with its report.json in the folder or a
    subfolder. Raises ModelFileError or DataError if one cannot be read or is of other weights.
    """
    manifest = read_manifest(folder)
    paths = sorted((folder / EVALUATIONS_FOLDER).glob("*.json"))
    evaluations = [one for path in paths for one in _evaluations_of(manifest, path)]
    audits = [_audit_of(manifest, path) for path in sorted([*folder.glob(AUDIT_FILE), *folder.glob(f"*/{AUDIT_FILE}")])]
    card = model_card(manifest, evaluations=evaluations, audits=audits, about=read_about(folder))
    write_atomic(folder / CARD_FILE, card.encode())
    return card


def add_evaluations(folder: Path, paths: Sequence[Path]) -> None:
    """Copy evaluations into a model folder. Raises DataError before copying if one is of other weights or unusable.

    A file replaces an earlier one of the same name only if it is of the same data.
    """
    manifest, stored = read_manifest(folder), folder / EVALUATIONS_FOLDER
    evaluations = {path: _evaluations_of(manifest, path) for path in paths}
    for path, of_path in evaluations.items():
        if path.resolve().parent != stored.resolve():
            data = hashlib.sha256(msgspec.json.encode([one.files for one in of_path], order="sorted")).hexdigest()
            stored.mkdir(exist_ok=True)
            shutil.copy(path, stored / f"{path.stem}-{data[:8]}.json")


def read_about(folder: Path) -> About:
    """The notes that people wrote about the model; empty if there is no file."""
    path = folder / ABOUT_FILE
    return read_json(path, About) if path.exists() else About()


class _Finding(msgspec.Struct):
    title: str
    verdict: str
    sentence: str


class _Report(msgspec.Struct):
    findings: list[_Finding] = []
    model_sha256: str | None = None


def _audit_of(manifest: Manifest, path: Path) -> Audit:
    """The summary of an audit, with the failures in its report."""
    beside = path.with_name(AUDIT_REPORT_FILE)
    report = read_json(beside, _Report) if beside.exists() else _Report()
    if report.model_sha256 not in (None, manifest.checksums[WEIGHTS_FILE]):
        raise DataError(Message("audit_of_other_weights", path=path))
    failures = [f"{one.title}: {one.sentence}" for one in report.findings if one.verdict == "fail"]
    return Audit(path.read_text(), failures)


def _evaluations_of(manifest: Manifest, path: Path) -> list[Evaluation]:
    evaluations = read_evaluations(path)
    for one in evaluations:
        if one.model_sha256 != manifest.checksums[WEIGHTS_FILE]:
            raise DataError(Message("evaluation_of_another_model", path=path, model=one.model))
    return evaluations
