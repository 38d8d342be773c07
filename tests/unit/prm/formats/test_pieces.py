"""A file is written in pieces that are large enough to be sent one by one, with the bytes of its lines."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from prm.exporters import EXPORTERS
from prm.formats.raw import LEAST_PIECE, join_pieces
from prm.formats.record import Record, sampled


@given(st.lists(st.integers(0, 2 * LEAST_PIECE).map(bytes), max_size=8))
def test_joined_pieces_have_the_same_bytes_and_the_least_size(pieces):
    joined = list(join_pieces(pieces))

    assert b"".join(joined) == b"".join(pieces)
    assert all(len(piece) >= LEAST_PIECE for piece in joined[:-1])


def test_a_large_piece_is_not_copied():
    large = bytes(LEAST_PIECE)

    [piece] = join_pieces([large])

    assert piece is large


def test_a_file_of_many_short_lines_has_few_pieces():
    solutions = [Record(f"Problem {number}", sampled(["a step"] * 8)) for number in range(1000)]

    pieces = list(EXPORTERS.get("records").write(solutions))

    assert b"".join(pieces) == b"".join(msgspec.json.encode(one) + b"\n" for one in solutions)
    assert len(pieces) <= sum(map(len, pieces)) // LEAST_PIECE + 1
