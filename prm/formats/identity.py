"""The identity of problems and solutions by their content, which is the same in every installation."""

import hashlib
import unicodedata

import msgspec

from prm.formats.record import Record

KEY_DIGITS = 32


def normalised(text: str) -> str:
    """The text in one Unicode form, with each run of white space as one blank. Problems with equal results are one."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def text_hash(problem: str) -> str:
    """The SHA-256 of a problem's normalised text."""
    return hashlib.sha256(normalised(problem).encode()).hexdigest()


def content_hash(record: Record) -> str:
    """The SHA-256 of the sampled steps, without completions that an annotation added."""
    sampled = [[(step.text, step.kind) for step in at if not step.added] for at in record.positions]
    while sampled and not sampled[-1]:
        sampled.pop()
    return hashlib.sha256(msgspec.json.encode(sampled)).hexdigest()


def solution_key(record: Record) -> str:
    """The key of a solution: a hash of its problem's text and its sampled steps."""
    return key_of(text_hash(record.problem), content_hash(record))


def key_of(problem: str, content: str) -> str:
    """The key of a solution with these two hashes."""
    return hashlib.sha256(f"{problem}{content}".encode()).hexdigest()[:KEY_DIGITS]
