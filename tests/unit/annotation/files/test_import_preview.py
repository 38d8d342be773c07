"""The preview tells what the import will do, from the first bytes alone."""

import gzip
import json
import random

import pytest

from annotation.core.errors import DomainError
from annotation.core.wording import in_words
from annotation.files.import_preview import PREVIEW_BYTES, preview_import
from annotation.models import ImportOptions
from prm.formats.registry import FORMATS

TEXT = "First we add.\nStill the first.\n\nThen we halve.\n\nThe answer is 3."


def lines(count, **fields):
    return b"\n".join(json.dumps({"problem": f"p{n}", **fields}).encode() for n in range(count))


def preview(head, *, whole=True, format="auto", decomposition="blank_lines", **options):
    options = ImportOptions(**options)
    return preview_import(
        head=head, whole=whole, filename="f", format=format, decomposition=decomposition, options=options
    )


@pytest.mark.parametrize(("rule", "count"), [("blank_lines", 3), ("lines", 4), ("sentences", 4)])
def test_the_steps_follow_the_rule(rule, count):
    found = preview(lines(5, solution=TEXT), decomposition=rule)
    assert found.format == "plain"
    assert [line for line, _ in found.records] == [1, 2, 3]
    assert {len(record.positions) for _, record in found.records} == {count}


def test_what_would_be_rejected_is_told_with_its_line():
    found = preview(lines(2, steps=["a"]) + b'\n{"problem": "p", "steps": []}\n{broken')
    assert [(rejection.line, rejection.field) for rejection in found.rejections] == [(3, "steps"), (4, "")]


def test_a_record_that_the_preview_cut_off_is_not_held_against_the_file():
    head = lines(5, steps=["a"])[:-8]
    assert len(preview(head, whole=True).rejections) == 1
    assert preview(head, whole=False).rejections == []


@pytest.mark.parametrize("indent", [None, 1])
def test_a_first_record_longer_than_the_preview_is_said_to_be_long(indent):
    head = json.dumps({"problem": "p", "steps": ["word " * 600_000]}, indent=indent).encode()[:PREVIEW_BYTES]
    with pytest.raises(
        DomainError, match=r"longer than 2 MB, so there is no preview\. The import reads records of up to 32 MB"
    ):
        preview(head, whole=False)


def test_the_head_of_a_packed_file_is_enough():
    packed = gzip.compress(b"\n".join(lines(1, steps=[str(hash(n)) * 30]) for n in range(3000)))
    assert len(preview(packed[: len(packed) // 2], whole=False).records) == 3


@pytest.mark.parametrize("magic", [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"])
def test_a_broken_packing_is_told_as_such(magic):
    with pytest.raises(DomainError, match="its compressed data is damaged"):
        preview(magic + b"junk" * 50)


def test_a_file_of_no_known_format_is_refused_as_it_would_be():
    with pytest.raises(DomainError) as refused:
        preview(b"once upon a time")
    assert refused.value.code == "unknown_format"


def test_a_file_of_unknown_columns_is_shown_so_that_a_person_can_name_them():
    shown = preview(b'{"story": "once"}')
    assert (shown.format, shown.begun and shown.begun.columns) == ("table", ["story"])
    assert in_words(shown.lacks) == "Choose the column that holds the problem."


def test_the_division_tells_how_many_steps_and_what_looks_wrong():
    texts = [TEXT, "One line", "a\n\nb\n\n" + "x" * 3000]
    head = b"\n".join(json.dumps({"problem": f"p{n}", "solution": text}).encode() for n, text in enumerate(texts))
    division = preview(head).division
    assert division is not None
    assert (division.solutions, division.whole, division.many, division.long, division.short) == (3, 1, 0, 1, 2)
    assert [(bar.least, bar.solutions) for bar in division.bars] == [(1, 1), (2, 0), (3, 2)]
    assert division.longest == 3000
    tried = {one.rule: (one.fewest, one.median, one.most) for one in division.tried}
    assert tried["blank_lines"] == (1, 3, 3)
    assert tried["lines"] == (1, 3, 4)
    assert preview(lines(3, steps=["a"])).division is None


PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000100000001008060000001ff3ff61")
ELF = bytes.fromhex("7f454c4602010100000000000000000003003e0001000000") + b"\n" + bytes(range(256))
LATIN_1 = "Aufgabe;Lösung;Prüfung\nWas ist 2 + 2?;4;ja\n".encode("latin-1")


@pytest.mark.parametrize("format", ["auto", "table"])
@pytest.mark.parametrize("content", [PNG, ELF, LATIN_1, b"a,b\x00c\n1,2\n"], ids=["PNG", "ELF", "Latin-1", "NUL"])
def test_a_header_that_is_no_text_is_refused_with_what_to_do(content, format):
    with pytest.raises(DomainError) as refused:
        preview(content, format=format)
    binary = content != LATIN_1 and format == "auto"
    assert refused.value.code == ("unknown_format" if binary else "unreadable_file")
    assert in_words(refused.value.message) == (
        "Stepmark cannot read f. Use JSON Lines, a JSON array, CSV, Parquet or plain text (.txt)."
        if binary
        else "f cannot be read: the first row is not UTF-8 text. Save the table as UTF-8 (in a spreadsheet: CSV UTF-8)."
    )


@pytest.mark.parametrize("format", ["auto", *FORMATS])
def test_bytes_of_any_kind_are_shown_or_refused(format):
    draw = random.Random(0)
    seeds = [PNG, ELF, LATIN_1, lines(3, steps=["a"]), b"problem,steps\nx,y\n", b"PAR1" + PNG, b"[{}, {", b'"\xff"\n']
    for _ in range(300):
        content = bytearray(draw.choice(seeds) * draw.randint(1, 3))
        for _ in range(draw.randint(1, 6)):
            content[draw.randrange(len(content))] = draw.choice(b'\x00\n",;{}[]\\u\xff\xed\xa0\x80')
        try:
            preview(bytes(content), format=format)
        except DomainError:
            continue


def test_what_the_import_will_warn_of_is_foreseen():
    alike = preview(lines(50, steps=["a", ""]))
    assert [str(warning).split(",")[0] for warning in alike.warnings] == [
        "The project has 50 problems in 1 source group",
        "50 steps (50 solutions) have no text. They are imported as empty steps",
    ]
    assert not preview(lines(50, steps=["a"]), source_groups="text").warnings
    others = [{"problem": f"{word} of", "steps": ["s"]} for word in map("x".__mul__, range(1, 41))]
    mixed = preview(lines(50, steps=["a"]) + b"\n" + "\n".join(map(json.dumps, others)).encode())
    assert [str(warning)[:28] for warning in mixed.warnings] == ["50 of the 90 problems share "]
    assert preview(lines(50, steps=["a", ""]), empty_steps="refuse").rejections
    labelled = [{"problem": "p", "steps": ["a", "b"], "label": label} for label in (0, 1)]
    [warning] = preview("\n".join(map(json.dumps, labelled)).encode()).warnings
    assert "neither names its annotator" in warning
    assert not preview("\n".join(map(json.dumps, labelled)).encode(), annotator="ann").warnings
