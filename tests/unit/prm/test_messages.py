"""A message is English to whoever reads it as text, and knows its code and values still."""

import copy
import json
import pickle
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.errors import DataError
from prm.messages import SENTENCES, Message, as_json, from_json, joined, register

VALUES = st.one_of(st.text(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))


@pytest.fixture(autouse=True)
def _sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SENTENCES, "items_of_name", "{n:,} of {name!r} in {share:.1f} s")
    monkeypatch.setitem(SENTENCES, "just_text", "{text}")
    monkeypatch.setitem(SENTENCES, "three_values", "{a} {b} {c}.")
    monkeypatch.setitem(SENTENCES, "steps_of_name", ("{n} step of {name}", "{n} steps of {name}"))


def test_it_is_english_text() -> None:
    one = Message("items_of_name", n=12345, name="a b", share=0.25)
    assert one == "12,345 of 'a b' in 0.2 s"
    assert json.dumps({"error": one}) == '{"error": "12,345 of \'a b\' in 0.2 s"}'
    assert (one.code, one.values["n"]) == ("items_of_name", 12345)


def test_a_figure_has_a_minus_and_a_space_before_the_percent_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SENTENCES, "gain_of_share", "{gain:+.1f} points, {share:.1%} of {name}, found {value}")
    one = Message("gain_of_share", gain=-3.12, share=0.6812, name="a-b%", value=-1)
    assert one == "−3.1 points, 68.1\xa0% of a-b%, found -1"


def test_stored_it_is_a_code_with_values_and_english() -> None:
    assert as_json(Message("steps_of_name", n=2, name="a")) == {
        "code": "steps_of_name",
        "values": {"n": 2, "name": "a"},
        "text": "2 steps of a",
    }


def test_an_error_has_the_code_and_values_of_its_message() -> None:
    error = DataError(Message("steps_of_name", n=2, name="a"))
    assert (str(error), error.code, error.values) == ("2 steps of a", "steps_of_name", {"n": 2, "name": "a"})
    other = DataError("as another library puts it")
    assert (str(other), other.code, other.values) == ("as another library puts it", "", {})


def test_a_message_in_a_message_keeps_its_own_code() -> None:
    inner = Message("steps_of_name", n=3, name="a")
    outer = Message("just_text", text=DataError(inner))
    assert outer == "3 steps of a"
    back = from_json(json.loads(json.dumps(as_json(outer))))
    assert isinstance(back, Message)
    error = back.values["text"]
    assert isinstance(error, Message)
    assert error.code == "steps_of_name"


@given(values=st.fixed_dictionaries({"a": VALUES, "b": VALUES, "c": VALUES}))
def test_what_is_stored_comes_back(values: dict[str, object]) -> None:
    one = Message("three_values", **values)
    for back in (from_json(json.loads(json.dumps(as_json(one)))), pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert isinstance(back, Message)
        assert (back, back.code, back.values) == (one, one.code, one.values)


@given(text=st.text())
def test_plain_text_comes_back_whatever_stands_in_it(text: str) -> None:
    assert from_json(as_json(text)) == text
    assert Message("just_text", text=text) == text


def test_texts_are_joined() -> None:
    assert joined([]) == ""
    assert joined(["One."]) == "One."
    assert joined([Message("just_text", text="1."), "Two.", "Three."]) == "1. Two. Three."
    assert joined(["1", "2"], "comma_list") == "1, 2"


def test_a_sentence_reaches_into_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SENTENCES, "class_of", "{n.__class__}")
    with pytest.raises(KeyError):
        Message("class_of", n=1)


def test_words_depend_on_the_number() -> None:
    forms = [Message("steps_of_name", n=n, name="a") for n in (0, 1, 2)]
    assert forms == ["0 steps of a", "1 step of a", "2 steps of a"]


def test_a_code_belongs_to_one_catalogue() -> None:
    other = ModuleType("other")
    other.SENTENCES = {"a_new_code": "New.", "just_text": "Taken."}  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="other repeats the codes just_text"):
        register(other)
    assert "a_new_code" not in SENTENCES
