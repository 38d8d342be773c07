"""Opens files as streams of their content; gzip and zstd are recognised by their first bytes and unpacked."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from annotation.files.places import open_place

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_PIECE = 64 * 1024
HARMLESS_BYTES = 256 * 1024 * 1024
LARGEST_RATIO = 200  # text has ratios of 5 to 30; a file made to fill a disk 1,000 or more


@dataclass(frozen=True)
class Content:
    """A file's content. Reading `stream` raises OSError if a packed file is damaged or unpacks to far too much.

    A file that is not packed supports `seek`, wherever it is stored.
    """

    stream: "_Guarded"
    file: BinaryIO

    @property
    def done_bytes(self) -> int:
        """How many bytes of the file itself have been read."""
        return self.file.tell()

    @property
    def unpacked_bytes(self) -> int:
        """How many bytes have been read from the stream, unpacked."""
        return self.stream.unpacked_bytes


@contextmanager
def open_content(place: str) -> Iterator[Content]:
    """The content of a file on this machine or at an address. Raises OSError if it cannot be opened."""
    with open_place(place) as file:
        magic = file.read(4)
        file.seek(0)
        with _unpacked(file, magic) as stream:
            yield Content(_Guarded(stream, file), file)


def unpacked_head(packed: bytes, most: int) -> bytes:
    """The first bytes of a file's content, at most `most`, from the first bytes of the file."""
    file, pieces, size = io.BytesIO(packed), [], 0
    try:
        with _unpacked(file, packed[:4]) as stream:
            while size < most and (piece := stream.read(min(_PIECE, most - size))):
                pieces.append(piece)
                size += len(piece)
    except (EOFError, OSError, zlib.error):
        pass  # the file continues after these bytes
    return b"".join(pieces)


class _Guarded(io.RawIOBase, BinaryIO):
    """A stream that raises every read error as OSError."""

    def __init__(self, stream: BinaryIO, file: BinaryIO) -> None:
        self._stream, self._file = stream, file
        self._packed = stream is not file
        self.unpacked_bytes = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return not self._packed

    def tell(self) -> int:
        return self._stream.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if self._packed:
            raise io.UnsupportedOperation("a packed file can only be read from its beginning")
        return self._stream.seek(offset, whence)

    def read(self, size: int = -1) -> bytes:
        try:
            piece = self._stream.read(size)
        except (EOFError, zlib.error) as error:
            raise OSError(f"its compressed data is damaged ({error})") from error
        self.unpacked_bytes += len(piece)
        if self._packed and self.unpacked_bytes > max(HARMLESS_BYTES, LARGEST_RATIO * self._file.tell()):
            raise OSError(f"it unpacks to more than {LARGEST_RATIO} times its size")
        return piece

    def readinto(self, buffer: Any) -> int:
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


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
