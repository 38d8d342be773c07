"""Which split a problem belongs to, once and for ever, by the hash of its source group."""

import hashlib
import re
import unicodedata

from prm.vocabulary import Split

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
