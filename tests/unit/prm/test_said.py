"""A sentence is English to whoever reads it as text, and knows its template and values still."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.errors import DataError
from prm.said import Said, as_json, counted, from_json, joined, said

VALUES = st.one_of(st.text(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))


def test_it_is_english_text() -> None:
    one = said("{n:,} of {name!r} in {share:.1f} s", n=12345, name="a b", share=0.25)
    assert one == "12,345 of 'a b' in 0.2 s"
    assert json.dumps({"error": one}) == '{"error": "12,345 of \'a b\' in 0.2 s"}'
    assert (one.template, one.values["n"]) == ("{n:,} of {name!r} in {share:.1f} s", 12345)


def test_a_sentence_in_a_sentence_keeps_its_own_template() -> None:
    inner = said("{n} steps", n=3)
    outer = said("it failed: {error}", error=DataError(inner))
    assert outer == "it failed: 3 steps"
    kept = from_json(json.loads(json.dumps(as_json(outer))))
    assert isinstance(kept, Said)
    error = kept.values["error"]
    assert isinstance(error, Said)
    assert error.template == "{n} steps"


@given(values=st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES))
def test_what_is_kept_comes_back(values: dict[str, object]) -> None:
    one = said(" ".join(f"{{{name}}}" for name in values) + ".", **values)
    back = from_json(json.loads(json.dumps(as_json(one))))
    assert isinstance(back, Said)
    assert (back, back.template, back.values) == (one, one.template, one.values)


@given(text=st.text())
def test_plain_text_comes_back_whatever_stands_in_it(text: str) -> None:
    assert from_json(as_json(text)) == text
    assert said("{text}", text=text) == text


def test_sentences_are_joined() -> None:
    assert joined([]) == ""
    assert joined(["One."]) == "One."
    assert joined([said("{n}.", n=1), "Two."]) == "1. Two."


def test_a_template_that_was_kept_reaches_into_nothing() -> None:
    with pytest.raises(KeyError):
        from_json({"said": "{n.__class__}", "values": {"n": 1}})


def test_what_is_counted_is_one_or_many() -> None:
    template = ("{n} step of {name}", "{n} steps of {name}")
    assert [counted(*template, n=n, name="a") for n in (0, 1, 2)] == ["0 steps of a", "1 step of a", "2 steps of a"]


@given(n=st.integers())
def test_what_was_counted_comes_back(n: int) -> None:
    one = counted("{n} step", "{n} steps", n=n)
    back = from_json(json.loads(json.dumps(as_json(one))))
    assert isinstance(back, Said)
    assert (back, back.template, back.many, back.values) == (one, one.template, one.many, one.values)
