"""Questions that begin within a solution."""

import pytest

from prm.labels import BAD, GOOD
from prm.traces import Step, Trace
from research.step_queries import ask


@pytest.mark.parametrize(
    ("error", "begin", "labels", "called", "checked", "missed"),
    [
        (2, 0, [GOOD, GOOD, BAD, None], 2, 3, False),
        (2, 1, [None, GOOD, BAD, None], 2, 2, False),
        (2, 2, [None, None, BAD, None], 2, 1, False),
        (2, 3, [None, None, None, GOOD], -1, 1, True),
        (-1, 1, [None, GOOD, GOOD, GOOD], -1, 3, False),
    ],
)
def test_steps_before_the_question_are_unlabelled_and_their_errors_missed(
    error, begin, labels, called, checked, missed
):
    trace = Trace(id="t", problem="p", steps=[Step(text) for text in "abcd"], first_error=error)
    question = ask(trace, begin)
    assert question.reading.trace.labels == labels
    assert (question.reading.trace.first_error, question.checked, question.missed) == (called, checked, missed)
