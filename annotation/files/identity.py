"""What a record is known by: hashes of problems, solutions and labels, and the source group that decides a split."""

import hashlib
import re
import unicodedata
import uuid

import msgspec

from prm.formats.record import Record, RecordAnnotation
from prm.vocabulary import Split

_LABELS = uuid.UUID("6b0f5d0e-58a5-4e0f-9d6c-3a0c2a3d4f11")


def text_hash(problem: str) -> str:
    """SHA-256 of the normalised text."""
    return hashlib.sha256(normalised(problem).encode()).hexdigest()


def content_hash(record: Record) -> str:
    """SHA-256 of the steps as sampled, without the completions that came with an annotation."""
    sampled = [[(step.text, step.kind) for step in at if not step.added] for at in record.positions]
    while sampled and not sampled[-1]:
        sampled.pop()
    return hashlib.sha256(msgspec.json.encode(sampled)).hexdigest()


def payload_hash(record: Record, annotation: RecordAnnotation) -> str:
    """SHA-256 of one label with everything its giver's record says about what was labelled.

    It excludes the problem's group and split, the solution's provenance, and outcomes found here: learning more about
    a solution does not change its labels' identity.
    """
    hashed = msgspec.structs.replace(
        record,
        annotations=[annotation],
        consensus=[],
        split="",
        source_group="",
        problem_id=None,
        solution_id=None,
        provenance=None,
    )
    if record.outcome_source is not None:
        hashed.outcome_source = None
        hashed.final_answer_correct = record.final_answer_correct if record.outcome_source == "given" else None
    return hashlib.sha256(msgspec.json.encode(hashed)).hexdigest()


def submission_id(project_id: int, payload: str) -> uuid.UUID:
    """The same label in the same project always gets the same id, whichever file it comes in."""
    return uuid.uuid5(_LABELS, f"{project_id}:{payload}")


HOLDOUT_SHARE = 0.15
CALIBRATION_SHARE = 0.10

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def normalised(text: str) -> str:
    """The text in one Unicode form with every run of white space as one blank: what makes two problems one."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def source_group_of(problem: str, given: str = "") -> str:
    """The group that numeric variants of a problem share: `given`, else its text without numbers."""
    if given:
        return given
    template = _NUMBER.sub("#", normalised(problem)).lower()  # 955 real MATH problems make 948 groups
    return "template:" + hashlib.sha256(template.encode()).hexdigest()[:32]


def group_of_text(problem: str) -> str:
    """A group that only problems of the same text share, for sets whose problems differ in nothing but numbers."""
    return "text:" + hashlib.sha256(normalised(problem).encode()).hexdigest()[:32]


def assign_split(source_group: str) -> Split:
    """The same group gets the same split in every project and on every day."""
    place = int.from_bytes(hashlib.sha256(b"split:" + source_group.encode()).digest()[:8], "big") / 2**64
    if place < HOLDOUT_SHARE:
        return "holdout"
    return "calibration" if place < HOLDOUT_SHARE + CALIBRATION_SHARE else "pool"
