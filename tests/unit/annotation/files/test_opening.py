"""Packed files come in as what they hold, and a broken or hostile one says so."""

import gzip
import json

import pyarrow
import pytest

from annotation.files import opening
from annotation.models import Solution

LINES = b"\n".join(json.dumps({"problem": f"p{'i' * n}", "steps": ["a"]}).encode() for n in range(40))


def zstd(content: bytes) -> bytes:
    return pyarrow.compress(content, codec="zstd", asbytes=True)


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_packed_file_comes_in(import_content, pack):
    job = import_content(pack(LINES), name="file.jsonl.packed")
    assert (job.state, job.format, job.accepted, job.rejected) == ("done", "plain", 40, 0)
    assert job.done_bytes == job.total_bytes


@pytest.mark.slow
def test_a_file_cut_off_in_its_packing_keeps_what_was_whole_and_says_so(import_content, monkeypatch):
    monkeypatch.setattr("annotation.files.chunks.CHUNK_RECORDS", 3)
    noise = b"\n".join(
        json.dumps({"problem": f"p{'i' * n}", "steps": [f"{hash((n, k))}" for k in range(2000)]}).encode()
        for n in range(40)
    )
    job = import_content(gzip.compress(noise)[:-20_000], name="f")
    assert job.state == "failed"
    assert "its compressed data is damaged" in job.error
    assert Solution.objects.count() == job.accepted > 0


@pytest.mark.slow
def test_a_bomb_is_refused(import_content, monkeypatch):
    monkeypatch.setattr(opening, "HARMLESS_BYTES", 1_000_000)
    job = import_content(gzip.compress(LINES + b"\n" * 30_000_000), name="f")
    assert (job.state, job.error) == ("failed", "f cannot be read: it unpacks to more than 200 times its size.")
