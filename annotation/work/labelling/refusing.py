"""Rejects a submission with a message and the field that is wrong."""

from typing import NoReturn

from annotation.core.errors import DomainError
from annotation.models import LabelScheme
from prm.messages import Message


def refuse(field: str, message: str) -> NoReturn:
    raise DomainError(message, {"field": field}, code="invalid_submission")


def refuse_unknown_type(field: str, error_type: str, scheme: LabelScheme) -> None:
    """Reject an error type that the project does not have; empty is none."""
    if error_type and error_type not in scheme.error_names:
        known = ", ".join(scheme.error_names) or Message("none")
        message = Message("unknown_error_type", error_type=error_type, known=known)
        refuse(field, message)
