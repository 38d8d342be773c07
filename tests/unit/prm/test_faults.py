"""What a decoder finds wrong is said by a template, in plain words."""

from typing import Annotated, Literal

import msgspec
import pytest

from prm.config import TrainConfig
from prm.faults import fault_of, sentence_of
from prm.messages import Message


class Record(msgspec.Struct, forbid_unknown_fields=True):
    config: TrainConfig
    n: Annotated[int, msgspec.Meta(ge=1)] = 1
    name: Annotated[str, msgspec.Meta(max_length=2)] = ""
    kind: Literal["a", "b"] = "a"
    items: list[int] = []
    choice: str | list[str] | None = None
    text: Annotated[str, msgspec.Meta(pattern=r"\S")] = "x"
    format: Annotated[str, msgspec.Meta(pattern=r"^(?:csv|prm\-800k)$")] = "csv"


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        ('{"config": {"dropout": 3}}', "config", "dropout must be in [0, 1)"),
        ('{"config": {"epochs": "a"}}', "config.epochs", "Expected a whole number, got a text"),
        ('{"config": {}, "n": 0}', "n", "Expected a whole number >= 1"),
        ('{"config": {}, "name": "abc"}', "name", "Expected a text of length <= 2"),
        ('{"config": {}, "kind": "c"}', "kind", "Invalid enum value 'c'"),
        ('{"config": {}, "items": [1, "a"]}', "items[1]", "Expected a whole number, got a text"),
        ('{"config": {}, "choice": {}}', "choice", "Expected a text or a list or null, got an object"),
        ('{"config": {}, "text": " "}', "text", "Expected a text that is not blank"),
        ('{"config": {}, "format": "xml"}', "format", "Expected one of csv, prm-800k"),
        ('{"config": {}, "other": 1}', "", "Object contains unknown field `other`"),
        ("{}", "", "Object missing required field `config`"),
        ("[1]", "", "Expected an object, got a list"),
        ("{config}", "", "JSON is malformed: object keys must be strings (byte 1)"),
        ('{"config', "", "Input data was truncated"),
    ],
)
def test_a_fault_has_a_place_and_a_sentence_of_ours(content: str, place: str, reason: str) -> None:
    with pytest.raises(msgspec.DecodeError) as refused:
        msgspec.json.decode(content, type=Record)
    assert fault_of(refused.value) == (place, reason)
    assert isinstance(fault_of(refused.value)[1], Message)
    assert sentence_of(refused.value).startswith(reason)


class Range(msgspec.Struct):
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(Message("value_out_of_range", expected="low", limit="<= high"), "high")


def test_a_check_of_two_fields_names_one_of_them() -> None:
    with pytest.raises(msgspec.DecodeError) as refused:
        msgspec.json.decode('[{"low": 2, "high": 1}]', type=list[Range])
    assert fault_of(refused.value) == ("[0].high", "Expected low <= high")
    with pytest.raises(msgspec.DecodeError) as refused:
        msgspec.json.decode('{"low": 2, "high": 1}', type=Range)
    assert fault_of(refused.value) == ("high", "Expected low <= high")


class Nested(msgspec.Struct):
    records: dict[str, list[Record | None]] = {}
    config: TrainConfig | None = None


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        (
            '{"records": {"x": [null, {"config": {}, "kind": "c"}]}}',
            "records[...][1].kind",
            "Expected one of a, b, got 'c'",
        ),
        ('{"config": {"lane": "all"}}', "config.lane", "Expected one of full, heads, lora, got 'all'"),
    ],
)
def test_an_unknown_name_lists_the_known_ones_if_the_type_is_at_hand(content: str, place: str, reason: str) -> None:
    with pytest.raises(msgspec.DecodeError) as refused:
        msgspec.json.decode(content, type=Nested)
    assert fault_of(refused.value, Nested) == (place, reason)
    assert sentence_of(refused.value, kind=Nested) == f"{reason} - at `$.{place}`"
