"""A folder that `datasets.load_dataset` opens, in a zip archive: a Parquet file for each split, and a card (README.md).

The rows are those of `parquet`. The pool is the split `train`, calibration `validation`, and the holdout `test`.
"""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, BinaryIO
from zipfile import ZipFile, ZipInfo

from prm.exporters import exporter
from prm.formats.parquet_rows import WRITTEN_AT_ONCE, Sink
from prm.formats.raw import CHUNK
from prm.formats.rows import Row
from prm.formats.table import rows, schema
from prm.formats.writing import ALONG_PATH, About, always, signed
from prm.messages import Message

if TYPE_CHECKING:
    import pyarrow

SPLIT_NAMES = {"pool": "train", "calibration": "validation", "holdout": "test"}
_DATE = (1980, 1, 1, 0, 0, 0)  # the same rows make the same archive


class _Part:
    """The Parquet file of one split, while its rows are collected."""

    def __init__(self, file: BinaryIO, schema: "pyarrow.Schema") -> None:
        from pyarrow import parquet

        self.file = file
        self._writer = parquet.ParquetWriter(file, schema, compression="zstd")
        self._schema = schema
        self._rows: list[Row] = []

    def add(self, row: Row) -> None:
        self._rows.append(row)
        if len(self._rows) == WRITTEN_AT_ONCE:
            self._write()

    def finish(self) -> BinaryIO:
        """The complete file, at its beginning."""
        self._write()
        self._writer.close()
        self.file.seek(0)
        return self.file

    def _write(self) -> None:
        import pyarrow

        if self._rows:
            self._writer.write_table(pyarrow.Table.from_pylist(self._rows, schema=self._schema))
            self._rows.clear()


def _encode(rows: Iterable[Row], about: About) -> Iterator[bytes]:
    signed_schema = signed(schema(), about)
    parts: dict[str, _Part] = {}
    with ExitStack() as stack:
        for row in rows:
            split = row["split"] or "pool"
            if split not in parts:
                parts[split] = _Part(stack.enter_context(tempfile.TemporaryFile()), signed_schema)
            parts[split].add(row)
        sink = Sink()
        with ZipFile(sink, "w") as archive:
            names = [split for split in SPLIT_NAMES if split in parts]
            archive.writestr(_member("README.md"), _with_data_files(about.card(), names))
            for split in names:
                file = parts[split].finish()
                with archive.open(_member(_path(split)), "w", force_zip64=True) as member:
                    while piece := file.read(CHUNK):
                        member.write(piece)
                        yield sink.take()
        yield sink.take()


def _with_data_files(card: str, splits: Iterable[str]) -> str:
    """The card with the files of each split in its YAML header."""
    files = "".join(f"  - split: {SPLIT_NAMES[split]}\n    path: {_path(split)}\n" for split in splits)
    data = f"configs:\n- config_name: default\n  data_files:\n{files}"
    mark = "---\n"
    rest = card.removeprefix(mark) if card.startswith(mark) else f"{mark}\n{card}"
    return f"{mark}{data}{rest}"


def _path(split: str) -> str:
    return f"data/{SPLIT_NAMES[split]}.parquet"


def _member(name: str) -> ZipInfo:
    info = ZipInfo(name, _DATE)
    info.external_attr = 0o644 << 16
    return info


exporter(
    "huggingface",
    title=Message("export_huggingface"),
    suffix="zip",
    encode=_encode,
    version="2",
    not_held=ALONG_PATH,
    nameless=False,
    has_card=True,
    by_structure=always,
)(rows)
