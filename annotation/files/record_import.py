"""Imports records into a project."""

from collections.abc import Iterable, Iterator
from itertools import islice

from django.contrib.auth.models import User
from django.db import transaction

from annotation.core import audit
from annotation.core.errors import DomainError
from annotation.files.record_faults import fault_of
from annotation.files.store import Counts, store_chunk
from annotation.models import Project
from prm.formats.record import Record
from prm.messages import Message

CHUNK_RECORDS = 500


@transaction.atomic
def import_records(*, project: Project, records: Iterable[Record], by: User | None) -> Counts:
    """Store all records or none; duplicates are counted, but not added again.

    `by` is None for the platform itself. Raises DomainError (`invalid_record`), which names the record and its field.
    """
    counts = Counts()
    numbered = enumerate(records)
    while chunk := list(islice(_checked(numbered), CHUNK_RECORDS)):
        counts += store_chunk(project=project, records=chunk)
    audit.record(
        by=by,
        action="records.import",
        target=project,
        after={"accepted": counts.accepted, "duplicates": counts.duplicates, "annotations": counts.annotations},
    )
    return counts


def _checked(numbered: Iterator[tuple[int, Record]]) -> Iterator[Record]:
    for number, record in numbered:
        fault = fault_of(record)
        if fault:
            field, reason = fault
            raise DomainError(
                Message("invalid_record", number=number, field=field, reason=reason),
                {"record": number, "field": field},
            )
        yield record
