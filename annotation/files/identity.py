"""The identity of records and labels, and the source group of a problem, which decides its split."""

import hashlib
import re
import uuid
from typing import NamedTuple

import msgspec

from annotation.core.solution_search import WordVector, vector_of_solution
from prm.formats.identity import content_hash, normalised, text_hash
from prm.formats.record import Record, RecordAnnotation
from prm.vocabulary import Split


class StoredRecord(Record):
    """A solution in the project, with the hashes under which it is stored.

    Steps that labels added to it do not change them.
    """

    text_hash: str = ""
    content_hash: str = ""


class Identified(NamedTuple):
    """A record with the hashes of its problem and its steps, its source group, and the words for its search.

    They depend on the record alone, so that an import computes them ahead of the database.
    """

    record: Record
    text_hash: str
    content_hash: str
    source_group: str
    words: WordVector


def identify(record: Record) -> Identified:
    if isinstance(record, StoredRecord):  # its problem, steps and words are in the database
        return Identified(record, record.text_hash, record.content_hash, record.source_group, WordVector())
    texts = [record.problem, *[completion.text for at in record.positions for completion in at]]
    return Identified(
        record,
        text_hash(record.problem),
        content_hash(record),
        source_group_of(record.problem, record.source_group),
        vector_of_solution(texts) if record.positions else WordVector(),
    )


_LABELS = uuid.UUID("6b0f5d0e-58a5-4e0f-9d6c-3a0c2a3d4f11")


def payload_hash(record: Record, annotation: RecordAnnotation) -> str:
    """The SHA-256 of a label with its record.

    It excludes the problem's group and split, the solution's provenance and multiplicity, and outcomes set here, so
    that learning more about a solution does not change the identity of its labels. It excludes the revision, which only
    some formats have. A label of a stored solution counts with its hashes.
    """
    label = msgspec.structs.replace(annotation, revision=None)
    if isinstance(record, StoredRecord):
        return hashlib.sha256(msgspec.json.encode([record.text_hash, record.content_hash, label])).hexdigest()
    hashed = msgspec.structs.replace(
        record,
        annotations=[label],
        consensus=[],
        consensus_method="",
        consensus_fit="",
        split="",
        source_group="",
        provenance=None,
        multiplicity=1,
    )
    if record.outcome_source is not None:
        hashed.outcome_source = None
        hashed.final_answer_correct = record.final_answer_correct if record.outcome_source == "given" else None
    return hashlib.sha256(msgspec.json.encode(hashed)).hexdigest()


def submission_id(project_id: int, payload: str) -> uuid.UUID:
    """The id of a label in a project, which is the same in whichever file the label is."""
    return uuid.uuid5(_LABELS, f"{project_id}:{payload}")


HOLDOUT_SHARE = 0.15
CALIBRATION_SHARE = 0.10

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def source_group_of(problem: str, stated: str = "") -> str:
    """The source group of a problem: the `stated` one, else a hash of its text without numbers."""
    if stated:
        return stated
    template = _NUMBER.sub("#", normalised(problem)).lower()  # 955 real MATH problems have 948 groups
    return "template:" + hashlib.sha256(template.encode()).hexdigest()[:32]


def group_of_text(problem: str) -> str:
    """The source group of problems with the same text, for sets whose problems differ only in numbers."""
    return "text:" + hashlib.sha256(normalised(problem).encode()).hexdigest()[:32]


def assign_split(source_group: str) -> Split:
    """The split of a source group, which is the same in every project."""
    place = int.from_bytes(hashlib.sha256(b"split:" + source_group.encode()).digest()[:8], "big") / 2**64
    if place < HOLDOUT_SHARE:
        return "holdout"
    return "calibration" if place < HOLDOUT_SHARE + CALIBRATION_SHARE else "pool"
