"""Algebra on answers is done in a process that is confined, and killed where an answer takes too much."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from prm.answers.process import Grader


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader(seconds_each=20) as grader:
        yield grader


SAME = [
    (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}"),
    (r"\sqrt{12}", r"2\sqrt{3}"),
    (r"\sqrt{3+2\sqrt2}", r"1+\sqrt2"),
    ("2π", r"2\pi"),
    ("6.283185", r"2\pi"),
    ("(x+1)^2", "x^2+2x+1"),
    ("x**2 + 2*x + 1", "(x+1)^2"),
    ("y = 2x + 1", "2x+1"),
    (r"\{1, 2, 3\}", r"\{3, 1, 2\}"),
    ("1, 2", "2, 1"),
    ("x = 1 or x = 2", "1, 2"),
    (r"1 \pm \sqrt{2}", r"1+\sqrt{2}, 1-\sqrt{2}"),
    (r"(-\infty, 3] \cup [5, \infty)", r"[5,\infty) \cup (-\infty,3]"),
    ("x < 3", r"(-\infty, 3)"),
    (r"\left( 3, \frac{\pi}{2} \right)", r"(3, \pi/2)"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", r"\begin{bmatrix}1&2\\3&4\end{bmatrix}"),
    (r"\tan^{-1} 1", r"\frac{\pi}{4}"),
]
DIFFERENT = [
    (r"\sqrt{2}", r"\sqrt{3}"),
    ("2π", "6.28"),
    ("(x+1)^2", "x^2+2x+2"),
    ("2x", "2y"),
    (r"\{1, 2\}", r"\{1, 3\}"),
    ("(1, 2)", "(2, 1)"),
    ("[0, 1)", "[0, 1]"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}2\\1\end{pmatrix}"),
    (r"i", "-i"),
]


@pytest.mark.parametrize(("said", "wanted"), SAME)
def test_what_is_equal_by_algebra_is_correct(grader: Grader, said: str, wanted: str) -> None:
    assert grader.grade(said, wanted) is True


@pytest.mark.parametrize(("said", "wanted"), DIFFERENT)
def test_what_differs_in_value_is_wrong(grader: Grader, said: str, wanted: str) -> None:
    assert grader.grade(said, wanted) is False


@pytest.mark.parametrize(
    "said",
    [
        r"__import__('os').system('touch hacked')",
        r"\operatorname{__import__('os').system('id')}",
        r"exec(open('/etc/passwd').read())",
        "{" * 900 + "1" + "}" * 900,
        r"\frac" * 300 + "{1}",
        r"\input{/etc/passwd}",
        "1/0",
        "\0",
        "[" * 1500,
    ],
)
def test_what_is_no_answer_is_unknown(grader: Grader, said: str) -> None:
    assert grader.grade(said, r"\sqrt{x}") is None


def test_an_answer_that_takes_too_much_time_or_memory_is_unknown_and_the_batch_goes_on() -> None:
    with Grader(seconds_each=1, megabytes=400) as small:
        graded = small.grade_many([("99999999!", "x"), (r"2^{99999999999} + x", "x"), ("3", "3"), (r"\sqrt{4}", "2")])
    assert graded == [None, None, True, True]


def test_a_child_that_is_killed_is_replaced(grader: Grader) -> None:
    assert grader.grade(r"\sqrt{9}", "3") is True
    assert grader._child is not None
    grader._child.kill()
    grader._child.wait()
    assert grader.grade(r"\sqrt{16}", "4") is None
    assert grader.grade(r"\sqrt{25}", "5") is True


def test_nothing_is_asked_past_the_time_in_all(grader: Grader) -> None:
    assert grader.grade_many([("1", "1"), (r"\sqrt{49}", "7")], seconds_in_all=-1) == [True, None]


def test_the_confined_process_evaluates_writes_and_starts_nothing() -> None:
    tried = """
import os, socket, subprocess
import prm.answers.child as c
c.limit_memory(1000)
c.forbid_evaluation()
for attempt in (lambda: eval("1"), lambda: exec("1"), lambda: open("x", "w"), lambda: os.system("true"),
                lambda: subprocess.run(["true"]), lambda: socket.socket(), lambda: os.fork()):
    try:
        attempt()
    except PermissionError:
        print("refused")
"""
    ran = subprocess.run([sys.executable, "-c", tried], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["refused"] * 7
