"""Stores the rejected records of an import with line, reason and text, so that users can fix them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import msgspec
from django.db.models import Sum
from django.db.models.functions import Length

from annotation.core.reading import read_rows
from annotation.files.opening import open_content
from annotation.models import ImportJob, ImportRejection
from prm.formats.mapping import Mapping
from prm.formats.record import Rejection
from prm.formats.table import originals_of

MAX_REJECTIONS = 10_000  # stored with their reason; the rest are counted
MAX_ORIGINAL = 1024 * 1024  # bytes of a stored record
MAX_ORIGINALS = 64 * 1024 * 1024  # bytes of all stored records of an import

Numbered = tuple[int, Rejection]  # 0-based number of the record in its file
Original = Callable[[int], bytes | None]


@contextmanager
def originals(place: str, format: str, mapping: Mapping | None) -> Iterator[Original]:
    """A function from the number of a record to its bytes in the file, None if too long. Call it in ascending order.

    The file is read a second time, in parallel with the import, and only as far as needed.
    """
    with ExitStack() as opened:
        records: Iterator[tuple[int, bytes | None]] | None = None

        def original(number: int) -> bytes | None:
            nonlocal records
            if records is None:
                content = opened.enter_context(open_content(place))
                records = enumerate(originals_of(format, mapping)(content.stream))
            raw = next((raw for at, raw in records if at == number), None)
            return raw if raw is not None and len(raw) <= MAX_ORIGINAL else None

        yield original


def store_rejections(job: ImportJob, rejected: Sequence[Numbered], original: Original) -> None:
    """Store a chunk's rejections, in the order of the file, up to the import's limits."""
    stored = rejected[: max(0, MAX_REJECTIONS - job.rejected)]
    if not stored:
        return
    size = job.rejections.aggregate(size=Sum(Length("original")))["size"] or 0
    rows = []
    for number, rejection in stored:
        raw = original(number) if size < MAX_ORIGINALS else None
        size += len(raw or b"")
        rows.append(
            ImportRejection(
                job=job,
                line=rejection.line,
                field=rejection.field[:200],
                reason=rejection.reason,
                excerpt=rejection.excerpt,
                original=raw,
            )
        )
    ImportRejection.objects.bulk_create(rows)


def rejected_lines(job: ImportJob) -> Iterator[bytes]:
    """Yield the rejections of a job as JSON Lines of `{line, field, reason, excerpt}`."""
    rows = job.rejections.order_by("line", "pk")
    for row in read_rows(rows.values("line", "field", "reason", "excerpt")):
        yield msgspec.json.encode(row | {"reason": str(row["reason"])}) + b"\n"


def original_lines(job: ImportJob) -> Iterator[bytes]:
    """Yield the rejected records as in the file, one per line, to fix and import again."""
    rows = job.rejections.filter(original__isnull=False).order_by("line", "pk")
    for original in read_rows(rows.values_list("original", flat=True), at_once=50):
        yield bytes(original or b"") + b"\n"
