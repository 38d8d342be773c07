"""Files as streams of their content: as they are, or packed by gzip or zstd, told by their first bytes."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_PIECE = 64 * 1024
HARMLESS_BYTES = 256 * 1024 * 1024
LARGEST_RATIO = 200  # text packs by 5 to 30; a file made to fill a disk by 1,000 and more


@dataclass(frozen=True)
class Content:
    """What a file holds. Reading `stream` raises OSError where a packed file is broken or unpacks to absurdly much."""

    stream: BinaryIO
    file: BinaryIO

    @property
    def done_bytes(self) -> int:
        """How far the file itself has been read."""
        return self.file.tell()


@contextmanager
def open_content(path: Path) -> Iterator[Content]:
    """The content of a file, unpacked where it is packed. Raises OSError where it cannot be opened."""
    with path.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        with _unpacked(file, magic) as stream:
            yield Content(cast(BinaryIO, _Guarded(stream, file)), file)


def unpacked_head(packed: bytes, most: int) -> bytes:
    """At most `most` bytes of what a file holds, from its own first bytes."""
    file, pieces, size = io.BytesIO(packed), [], 0
    try:
        with _unpacked(file, packed[:4]) as stream:
            while size < most and (piece := stream.read(min(_PIECE, most - size))):
                pieces.append(piece)
                size += len(piece)
    except (EOFError, OSError, zlib.error):
        pass  # the file goes on behind the bytes given
    return b"".join(pieces)


class _Guarded(io.RawIOBase):
    """A stream that is read with all that can go wrong told as OSError."""

    def __init__(self, stream: BinaryIO, file: BinaryIO) -> None:
        self._stream, self._file, self._given = stream, file, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            piece = self._stream.read(size)
        except (EOFError, zlib.error) as error:
            raise OSError(f"its packing is broken ({error})") from error
        self._given += len(piece)
        if self._given > max(HARMLESS_BYTES, LARGEST_RATIO * self._file.tell()):
            raise OSError(f"it unpacks to more than {LARGEST_RATIO} times its size")
        return piece


@contextmanager
def _unpacked(file: BinaryIO, magic: bytes) -> Iterator[BinaryIO]:
    if magic.startswith(GZIP):
        with gzip.open(file, "rb") as content:
            yield cast(BinaryIO, content)
    elif magic == ZSTD:
        import pyarrow

        with pyarrow.CompressedInputStream(file, "zstd") as content:
            yield content
    else:
        yield file
