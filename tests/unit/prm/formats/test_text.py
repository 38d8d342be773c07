"""Plain text is read as problems with their solutions."""

import io

import pytest

from prm.errors import FormatError
from prm.formats.detection import detect
from prm.formats.plain import originals, plain
from prm.formats.record import Record, Rejection


def read(text, **options):
    return list(plain.read(io.BytesIO(text.encode()), **options))


def pairs(text):
    return [(item.problem, item.solution_text) for _, item in read(text) if isinstance(item, Record)]


@pytest.mark.parametrize(
    "text",
    [
        "What is $2 + 2$?\n\nWe add.\n\nIt is 4.",
        "\ufeff\n  \nWhat is $2 + 2$?\r\n\r\nWe add.\r\n\r\nIt is 4.\r\n",
        "What is $2 + 2$?\n\nSolution: We add.\n\nIt is 4.",
        "Problem: What is $2 + 2$?\nSolution:\nWe add.\n\nIt is 4.",
        "**Question 1:** What is $2 + 2$?\nAnswer: We add.\n\nIt is 4.",
        "## Aufgabe:\nWhat is $2 + 2$?\n\n### Lösung:\nWe add.\n\nIt is 4.",
    ],
)
def test_the_problem_ends_at_a_blank_line_or_a_heading(text):
    assert [(one, two.replace("\r", "")) for one, two in pairs(text)] == [("What is $2 + 2$?", "We add.\n\nIt is 4.")]


def test_a_problem_of_several_paragraphs_ends_at_the_heading_of_its_solution():
    text = "Problem: Ana has 3 pens.\n\nShe buys 2.\n\nSolution: She has 5.\n\nAnswer: 5"
    assert pairs(text) == [("Ana has 3 pens.\n\nShe buys 2.", "She has 5.\n\nAnswer: 5")]


def test_a_last_line_with_the_answer_is_part_of_the_solution():
    assert pairs("What is 2 + 2?\n\nWe add.\n\nAnswer: 4") == [("What is 2 + 2?", "We add.\n\nAnswer: 4")]
    assert pairs("Question: What is 2 + 2?\n\nWe add.\n\nAnswer: 4") == [("What is 2 + 2?", "We add.\n\nAnswer: 4")]


@pytest.mark.parametrize("between", ["\n---\n", "\n\n=====\n\n", "\n***\n---\n"])
def test_a_line_of_dashes_begins_the_next_problem(between):
    assert pairs(f"p\n\na\n\nb{between}q\n\nc") == [("p", "a\n\nb"), ("q", "c")]


def test_so_does_the_next_heading_of_a_problem():
    text = "Question: p\nAnswer: a\nb\nQuestion: q\nAnswer: c\n"
    assert pairs(text) == [("p", "a\nb"), ("q", "c")]
    assert pairs("p\n\nTask: is a step here\n\nb") == [("p", "Task: is a step here\n\nb")]


def test_a_text_without_a_solution_is_rejected_with_its_line_and_the_others_are_read():
    items = read("p\n\na\n---\n\nonly a problem\n---\nq\n\nb")
    assert [line for line, _ in items] == [1, 6, 8]
    rejection = items[1][1]
    assert isinstance(rejection, Rejection)
    assert (rejection.field, rejection.excerpt) == ("solution", "only a problem")
    assert "got one paragraph" in str(rejection.reason)
    assert read("p\n\na\n---\n\nonly a problem\n---\nq\n\nb", skip=2) == items[2:]


def test_a_text_of_one_line_is_refused_as_a_problem_without_a_solution():
    with pytest.raises(FormatError, match="a blank line and the solution, got one paragraph"):
        detect(io.BytesIO(b"What is 2 + 2?\n"), "own.txt")


def test_originals_are_numbered_as_the_records_are():
    text = b"p\n\na\n---\nonly a problem\n"
    assert list(originals(io.BytesIO(text))) == [b'"p\\n\\na\\n"', b'"only a problem\\n"']
    assert list(originals(io.BytesIO(b'{"problem": "p"}\n'))) == [b'{"problem": "p"}']


def test_a_line_that_is_too_long_is_rejected_and_the_next_record_is_read(monkeypatch):
    monkeypatch.setattr("prm.formats.plain.MAX_RECORD_BYTES", 50)
    items = read("p\n\n" + "a" * 80 + "\n---\nq\n\nb")
    assert [type(item) for _, item in items] == [Rejection, Record]


def test_a_text_file_is_recognised_by_its_name_and_content():
    assert detect(io.BytesIO("Größe, Länge?\n\nEins, zwei.\n".encode()), "own.TXT") == "plain"
    assert detect(io.BytesIO(b"problem,solution\np,s\n"), "own.txt") == "table"
    assert detect(io.BytesIO(b'{"problem": "p", "steps": ["a"]}\n'), "own.txt") == "plain"


def test_worked_answers_are_taken_for_the_solutions():
    content = b'{"question": "How many?", "answer": "3 + 4 = 7\\nSo 7.\\n#### 7"}\n'
    assert detect(io.BytesIO(content), "train.jsonl") == "table"
