"""Which submissions the label scheme allows, and what their first error is."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.errors import DomainError
from annotation.models import LabelScheme
from annotation.models.scheme import Term
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from annotation.work.labelling.scheme_check import check

# Three positions; at the second stand two completions. Ids are 10, 20, 21, 30.
POSITIONS = [{10: 0}, {20: 0, 21: 1}, {30: 0}]
PHASE_2 = LabelScheme(error_types=[Term("slip")], ask_own_step=True)
EVERY_STEP = LabelScheme(stop_at_first_error=False)
PHASE_1 = LabelScheme(choose_path=True, ask_own_step=True)
PHASE_1_TO_THE_END = LabelScheme(choose_path=True, stop_at_first_error=False)


def at(position, *words, chosen=None, own=None):
    """`words` are (step, rating) with None for unsure and "-" for not reached."""
    states = {None: "unsure", "-": "not_reached"}
    ratings = [
        GivenRating(step=step, state=states.get(word, "rated"), rating=word if isinstance(word, int) else None)
        for step, word in words
    ]
    return GivenPosition(position=position, chosen=chosen, own_text=own, ratings=ratings)


FIRST, SECOND, LAST = at(0, (10, 1), chosen=10), at(1, (20, 1), chosen=20), at(2, (30, 1), chosen=30)
NOT_REACHED = at(2, (30, "-"))


def submission(path, finish="solution", **fields):
    return Submission(submission_id=uuid.uuid4(), solution=1, finish_reason=finish, path=path, **fields)


@pytest.mark.parametrize(
    ("scheme", "path", "finish", "first_error"),
    [
        (PHASE_2, [FIRST, SECOND, LAST], "solution", -1),
        (PHASE_2, [FIRST, at(1, (20, None), chosen=20), at(2, (30, 0), chosen=30)], "solution", -1),
        (PHASE_2, [FIRST, at(1, (20, -1))], "found_error", 1),
        (PHASE_2, [FIRST, at(1, (20, -1)), NOT_REACHED], "found_error", 1),
        (PHASE_2, [FIRST, at(1, (20, -1), (21, 1)), NOT_REACHED], "found_error", 1),
        (PHASE_2, [FIRST, at(1, (20, -1), own="5x = 6x - 14"), NOT_REACHED], "found_error", 1),
        (PHASE_2, [FIRST, at(1, (20, -1), (21, 1), chosen=21), LAST], "solution", -1),
        (PHASE_2, [at(0, (10, -1))], "found_error", 0),
        (PHASE_2, [FIRST], "give_up", None),
        (PHASE_2, [], "bad_problem", None),
        (EVERY_STEP, [at(0, (10, -1), chosen=10), SECOND, LAST], "found_error", 0),
        (EVERY_STEP, [FIRST, at(1, (20, -1), chosen=20), at(2, (30, -1), chosen=30)], "solution", 1),
        (PHASE_1, [FIRST, at(1, (20, 0), (21, 1), chosen=21), LAST], "solution", -1),
        (PHASE_1, [FIRST, at(1, (20, -1), (21, -1), own="5x = 6x - 14"), LAST], "solution", -1),
        (PHASE_1, [FIRST, at(1, (20, -1), (21, 1), chosen=21)], "solution", -1),
        (PHASE_1, [FIRST, at(1, (20, -1), (21, -1), own="So x = 14.")], "solution", -1),
        (PHASE_1, [FIRST, at(1, (20, -1), (21, -1))], "found_error", 1),
        (PHASE_1, [at(0, (10, -1), own="mine"), at(1, (20, -1), (21, -1)), NOT_REACHED], "found_error", 1),
        (PHASE_1, [FIRST, at(1, (20, 1))], "give_up", None),
        (PHASE_1_TO_THE_END, [FIRST, at(1, (20, -1), (21, -1), chosen=21), LAST], "found_error", 1),
    ],
)
def test_what_holds(scheme, path, finish, first_error):
    reason = "unreadable" if finish in {"give_up", "bad_problem"} else ""
    assert check(submission(path, finish, reason=reason), POSITIONS, scheme) == first_error


@pytest.mark.parametrize(
    ("scheme", "path", "finish", "field"),
    [
        (PHASE_2, [SECOND], "solution", "path[0].position"),
        (PHASE_2, [FIRST, FIRST], "solution", "path[1].position"),
        (PHASE_2, [FIRST, SECOND, LAST, at(3)], "solution", "path[3].position"),
        (PHASE_2, [at(0, (20, 1), chosen=20)], "solution", "path[0].ratings[0].step"),
        (PHASE_2, [at(0, (10, 1), (10, 0), chosen=10)], "solution", "path[0].ratings[1].step"),
        (PHASE_2, [at(0, (10, 2), chosen=10)], "solution", "path[0].ratings[0].rating"),
        (PHASE_2, [at(0, (10, 1), chosen=30)], "solution", "path[0].chosen"),
        (PHASE_2, [at(0, chosen=10)], "solution", "path[0].chosen"),
        (PHASE_2, [at(0, (10, "-"), chosen=10)], "solution", "path[0].chosen"),
        (PHASE_2, [at(0, (10, -1), chosen=10)], "found_error", "path[0].chosen"),
        (PHASE_2, [at(0, (10, 1), chosen=10, own="mine")], "solution", "path[0].own_text"),
        (LabelScheme(), [at(0, (10, -1), own="mine")], "found_error", "path[0].own_text"),
        (LabelScheme(rate_alternatives=False), [FIRST, at(1, (20, 1), (21, 1))], "solution", "path[1].ratings"),
        (PHASE_2, [FIRST, at(1, (20, -1)), at(2, (30, 1))], "found_error", "path[2]"),
        (PHASE_2, [FIRST, at(1, (20, -1)), LAST], "found_error", "path[2]"),
        (PHASE_2, [FIRST, at(1, (20, -1))], "solution", "finish_reason"),
        (PHASE_2, [FIRST, SECOND, LAST], "found_error", "finish_reason"),
        (PHASE_2, [FIRST, SECOND], "solution", "path[2]"),
        (PHASE_2, [FIRST, SECOND, NOT_REACHED], "solution", "path[2]"),
        (PHASE_2, [at(0, (10, 1)), SECOND, LAST], "solution", "path[0]"),
        (PHASE_2, [at(0), at(1, (20, -1))], "found_error", "finish_reason"),
        (EVERY_STEP, [at(0, (10, -1), chosen=10)], "found_error", "path[1]"),
        (PHASE_1, [FIRST, at(1, (20, -1), (21, 1)), LAST], "solution", "path[2]"),
        (PHASE_1, [FIRST, at(1, (20, -1), (21, -1))], "solution", "finish_reason"),
        (PHASE_1, [FIRST, at(1, (20, 0), (21, 1))], "solution", "path[1]"),
        (PHASE_1, [FIRST, at(1), LAST], "solution", "path[1]"),
        (PHASE_1, [FIRST, at(1, (20, -1), chosen=20), LAST], "found_error", "path[1].chosen"),
        (PHASE_1, [], "solution", "path[0]"),
        (PHASE_2, [FIRST], "give_up", "reason"),
        (PHASE_2, [FIRST], "bad_problem", "reason"),
    ],
)
def test_what_does_not_hold_names_its_place(scheme, path, finish, field):
    with pytest.raises(DomainError) as refused:
        check(submission(path, finish), POSITIONS, scheme)
    assert (refused.value.code, refused.value.extra["field"]) == ("invalid_submission", field)


@pytest.mark.parametrize(
    ("rating", "error_type", "field"),
    [(-1, "slip", None), (-1, "typo", "error_type"), (1, "slip", "error_type"), (None, "slip", "error_type")],
)
def test_error_types_are_the_projects_and_belong_to_errors(rating, error_type, field):
    word = GivenRating(step=10, state="unsure" if rating is None else "rated", rating=rating, error_type=error_type)
    path = [GivenPosition(position=0, ratings=[word], chosen=None if rating == -1 else 10)]
    given = submission(path, "give_up" if rating != -1 else "found_error", reason="long")
    if field is None:
        assert check(given, POSITIONS, PHASE_2) == 0
    else:
        with pytest.raises(DomainError) as refused:
            check(given, POSITIONS, PHASE_2)
        assert refused.value.extra["field"] == f"path[0].ratings[0].{field}"


words = st.builds(
    GivenRating,
    step=st.sampled_from([10, 20, 21, 30]),
    state=st.sampled_from(["rated", "unsure", "not_reached"]),
    rating=st.sampled_from([None, 1, 0, -1]),
)
places = st.builds(
    GivenPosition,
    position=st.integers(0, 3),
    chosen=st.sampled_from([None, 10, 20, 21, 30]),
    own_text=st.sampled_from([None, "mine"]),
    ratings=st.lists(words, max_size=3),
)
sane_words = st.sampled_from([1, 0, -1, None, "-"])


@st.composite
def sane_paths(draw):
    """Paths that mostly hold, so that the acceptance of `check` is exercised too."""
    path = []
    for position, ids in enumerate([[10], [20, 21], [30]][: draw(st.integers(0, 3))]):
        said = [(step, draw(sane_words)) for step in ids]
        good = [step for step, word in said if word in (1, 0, None)]
        path.append(at(position, *said, chosen=draw(st.sampled_from([None, *good])) if good else None))
    return path


@given(
    path=st.one_of(sane_paths(), st.lists(places, max_size=4)),
    finish=st.sampled_from(["solution", "found_error", "give_up", "bad_problem"]),
    reason=st.sampled_from(["", "because"]),
    scheme=st.builds(
        LabelScheme,
        stop_at_first_error=st.booleans(),
        rate_alternatives=st.booleans(),
        ask_own_step=st.booleans(),
        choose_path=st.booleans(),
    ),
)
def test_whatever_comes_is_refused_by_name_or_is_sound(path, finish, reason, scheme):
    refusal = None
    try:
        error = check(submission(path, finish, reason=reason), POSITIONS, scheme)
    except DomainError as refused:
        refusal = refused
    if refusal:
        assert refusal.code == "invalid_submission"
        assert refusal.extra["field"]
        return
    by_step = {word.step: word.rating for place in path for word in place.ratings}
    assert all(word.step in POSITIONS[place.position] for place in path for word in place.ratings)
    if error is not None and error >= 0:
        assert -1 in {by_step.get(step) for step in POSITIONS[error]}
    if finish == "found_error":
        assert error is not None
        assert error >= 0
    if finish == "solution":
        assert error is not None
        assert scheme.choose_path or len(path) == len(POSITIONS)
        goes_on = [place.chosen is not None or place.own_text is not None for place in path]
        assert goes_on[0]
        assert goes_on == sorted(goes_on, reverse=True)
    if scheme.stop_at_first_error and finish == "found_error":
        rest = [word for place in path if place.position > error for word in place.ratings]
        assert all(word.state == "not_reached" for word in rest)
