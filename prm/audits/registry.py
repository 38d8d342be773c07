"""The audits that exist, by name, and how one is added."""

from collections.abc import Callable
from random import Random

from prm.audits.finding import Finding
from prm.audits.subject import Subject
from prm.messages import Message
from prm.registry import Registry

Audit = Callable[[Subject, Random], Finding]
AUDITS = Registry[Audit](
    "stepmark.audits",
    Message("kind_audit"),
    built_in=tuple(
        f"prm.audits.{name}" for name in ("outcome", "gaming", "transfer", "length", "long", "position", "calibration")
    ),
)
