import pytest

from prm.formats.path import consensus_path, first_error, taken_path
from prm.formats.record import Completion, PathPosition, Rating, Record, RecordAnnotation


def at(position, *ratings, chosen=None, own=None):
    rated = [Rating(alternative=i, state="rated", rating=r) for i, r in enumerate(ratings)]
    return PathPosition(position=position, chosen=chosen, own_text=own, ratings=rated)


@pytest.mark.parametrize(
    ("finish", "path", "expected"),
    [
        ("solution", [at(0, 1, chosen=0), at(1, 1, chosen=0)], -1),
        ("found_error", [at(0, 1, chosen=0), at(1, -1, 1)], 1),
        ("found_error", [at(0, 1, chosen=0), at(1, 1, 0, -1)], 1),
        ("found_error", [at(0, 1, chosen=0)], None),
        ("found_error", [at(0, -1, chosen=0), at(1, -1, chosen=0)], 0),
        ("found_error", [at(0, 1, chosen=0), at(1, -1, own="how it should go on"), at(2)], 1),
        ("found_error", [at(0, -1, own="mine"), at(1, -1)], 1),
        ("solution", [at(0, -1, -1, own="mine"), at(1, 1, chosen=0)], -1),
        ("solution", [at(0, -1, 1, chosen=1)], -1),
        ("give_up", [at(0, 1, chosen=0), at(1, -1, -1)], None),
        ("give_up", [at(0, -1, chosen=0), at(1)], 0),
        ("bad_problem", [], None),
    ],
)
def test_first_error(finish, path, expected):
    assert first_error(finish, path) == expected
    assert first_error(finish, reversed(path)) == expected


def test_a_position_where_nothing_was_taken_ends_the_path():
    path = [at(0, 1, chosen=0), at(1, -1), at(2, 1, chosen=0)]
    assert [step.position for step in taken_path("give_up", path)] == [0]


def test_consensus_path_follows_the_majority_that_walked_together():
    def walk(*choices, adjudicates=False):
        path = [PathPosition(position=i, chosen=c) for i, c in enumerate(choices)]
        return RecordAnnotation(source_kind="human", finish_reason="solution", path=path, adjudicates=adjudicates)

    record = Record(problem="p", positions=[[Completion("a"), Completion("b")]] * 3)
    assert [s.alternative for s in consensus_path(record)] == [0, 0, 0]
    record.annotations = [walk(0, 1, 1), walk(0, 1, 0), walk(1, 0)]
    assert [s.alternative for s in consensus_path(record)] == [0, 1, 0]
    record.annotations.append(walk(1, 1, adjudicates=True))
    assert [s.alternative for s in consensus_path(record)] == [1, 1]
