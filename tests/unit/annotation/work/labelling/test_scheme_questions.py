"""What a project asks beside the ratings is answered as it may be, and is there where it is needed."""

import uuid

import pytest

from annotation.core.errors import DomainError
from annotation.models import LabelScheme
from annotation.models.scheme import Term
from annotation.work.labelling.payload import Dimensions, GivenPosition, GivenRating, Submission
from annotation.work.labelling.scheme_check import check

POSITIONS = [{10: 0}, {20: 0}, {30: 0}]
CRITIQUES = {20: 2}
AGENT = LabelScheme(
    stop_at_first_error=False,
    policy_clauses=[Term("1.1"), Term("1.2")],
    consistency=True,
    redundancy=True,
    recovery=True,
)


def submission(ratings, finish="found_error", **fields):
    """`ratings` of the three steps with what is said beside them, up to where they end."""
    path = []
    for position, (rating, said) in enumerate(ratings):
        beside = {"dimensions": Dimensions(**said)} if said else {}
        step = 10 * (position + 1)
        given = GivenRating(step=step, state="rated", rating=rating, **beside)
        ends = rating == -1 and len(ratings) < 3
        path.append(GivenPosition(position=position, chosen=None if ends else step, ratings=[given]))
    return Submission(submission_id=uuid.uuid4(), solution=1, finish_reason=finish, path=path, **fields)


@pytest.mark.parametrize(
    "said",
    [
        {"clauses": ["1.1", "1.2"]},
        {"consistent": False, "consistent_with": 1},
        {"consistent": True},
        {"consistent": True, "consistent_with": 0},
        {"redundant": True, "recovers": True},
    ],
)
def test_a_step_is_said_what_the_project_asks(said):
    assert check(submission([(1, {}), (-1, {}), (1, said)]), POSITIONS, AGENT) == 1


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"clauses": ["9"]}, "clauses[0]"),
        ({"clauses": ["1.1", "1.1"]}, "clauses[1]"),
        ({"consistent": False}, "consistent_with"),
        ({"consistent": False, "consistent_with": 2}, "consistent_with"),
        ({"consistent_with": 0}, "consistent"),
        ({"critique": "no"}, "critique"),
    ],
)
def test_what_cannot_be_said_names_its_place(said, field):
    with pytest.raises(DomainError) as refused:
        check(submission([(1, {}), (-1, {}), (1, said)]), POSITIONS, AGENT)
    assert refused.value.extra["field"] == f"path[2].ratings[0].dimensions.{field}"


@pytest.mark.parametrize(
    "said",
    [{"clauses": ["1.1"]}, {"consistent": True}, {"redundant": True}, {"recovers": True}, {"critique": "no"}],
)
def test_nothing_is_said_that_the_project_does_not_ask(said):
    with pytest.raises(DomainError) as refused:
        check(submission([(1, {}), (-1, said)]), POSITIONS, LabelScheme())
    assert refused.value.extra["field"].startswith("path[1].ratings[0].dimensions.")


def test_only_a_step_behind_an_error_recovers_from_one():
    with pytest.raises(DomainError) as refused:
        check(submission([(1, {"recovers": True}), (-1, {}), (1, {})]), POSITIONS, AGENT)
    assert refused.value.extra["field"] == "path[0].ratings[0].dimensions.recovers"


@pytest.mark.parametrize(
    ("asked", "said", "field"),
    [
        ("written", {}, "critique"),
        ("written", {"critique": "  "}, "critique"),
        ("written", {"critique": "2 + 2 is 4"}, None),
        ("written", {"critique": "no", "critique_ratings": [1]}, "critique_ratings"),
        ("given", {"critique_ratings": [-1, 0]}, "critique"),
        ("given", {"critique_ratings": [-1, 1]}, None),
        ("given", {"critique_ratings": [-1, 0], "critique": "2 + 2 is 4"}, None),
        ("given", {"critique_ratings": [1, 1, 1]}, "critique_ratings"),
    ],
)
def test_the_first_error_has_a_critique_where_one_is_asked(asked, said, field):
    given, scheme = submission([(1, {}), (-1, said)]), LabelScheme(critique=asked)
    if field is None:
        assert check(given, POSITIONS, scheme, CRITIQUES) == 1
    else:
        with pytest.raises(DomainError) as refused:
            check(given, POSITIONS, scheme, CRITIQUES)
        assert refused.value.extra["field"] == f"path[1].ratings[0].dimensions.{field}"


def test_how_far_it_got_is_said_where_it_is_asked_and_an_error_is_found():
    asked, error = LabelScheme(ask_progress=True), [(1, {}), (-1, {})]
    right = [(1, {}), (1, {}), (1, {})]
    assert check(submission(error, progress=3), POSITIONS, asked) == 1
    assert check(submission(right, "solution"), POSITIONS, asked) == -1
    for given, scheme in [
        (submission(error), asked),
        (submission(error, progress=5), asked),
        (submission(error, progress=3), LabelScheme()),
        (submission(right, "solution", progress=3), asked),
    ]:
        with pytest.raises(DomainError) as refused:
            check(given, POSITIONS, scheme)
        assert refused.value.extra["field"] == "progress"


def test_answers_that_are_not_offered_are_refused():
    unsure = GivenPosition(position=0, chosen=10, ratings=[GivenRating(step=10, state="unsure")])
    for given, scheme, field in [
        (submission([(0, {}), (1, {}), (1, {})], "solution"), LabelScheme(offer_neutral=False), "rating"),
        (
            Submission(submission_id=uuid.uuid4(), solution=1, finish_reason="solution", path=[unsure]),
            LabelScheme(offer_unsure=False),
            "state",
        ),
    ]:
        with pytest.raises(DomainError) as refused:
            check(given, POSITIONS, scheme)
        assert refused.value.extra["field"] == f"path[0].ratings[0].{field}"


def test_a_submission_without_any_of_it_keeps_the_hash_it_had():
    """A page that was open while the platform was brought up to date sends its retry again."""
    known = Submission(
        submission_id=uuid.UUID(int=7), solution=1, finish_reason="solution", path=[
            GivenPosition(position=0, chosen=10, ratings=[GivenRating(step=10, state="rated", rating=1)])
        ],
    )  # fmt: skip
    assert known.payload_hash == "62ee19a1cae4911d1215be53b9c3296ce2543bac76602e915e65460b36f598d6"
