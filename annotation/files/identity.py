"""Hashes that identify problems, solutions and labels, so that nothing is imported twice."""

import hashlib
import uuid

import msgspec

from annotation.files.splits import normalised
from prm.formats.record import Record, RecordAnnotation

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
