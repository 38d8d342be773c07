"""A label scheme is refused when it is written, with what is wrong in it."""

import re
from importlib import import_module
from pathlib import Path

import msgspec
import pytest
from django.conf import settings
from hypothesis import assume, given
from hypothesis import strategies as st

from annotation.models import parse_scheme
from annotation.models.scheme import DEFAULT_KEYS, LabelScheme, Term

_migration = import_module("annotation.migrations.0035_keys_of_three_more")
THREE, keys_for_three = _migration.THREE, _migration.keys_for_three
_later = import_module("annotation.migrations.0053_keys_of_giving_up")
TWO, keys_for_two = _later.TWO, _later.keys_for_two
KEYS = Path(settings.BASE_DIR) / "labelling_ui" / "frontend" / "src" / "ui" / "keys.ts"
SHORTCUT = re.compile(r'\{ keys: \["([^"])"(?:, "\w+")?\], command: .* about: "(\w+)" \}')


@pytest.mark.parametrize(
    ("scheme", "said"),
    [
        ({"keys": {"good": "k"}}, "'k' stands for good and for previous"),
        ({"keys": {"good": "0"}}, "'0' stands for good and for no_error: give one of them another key"),
        ({"keys": {"bad": "q"}}, "'q' stands for bad and for go_to"),
        ({"keys": {"no_error": "l"}}, "'l' stands for no_error and for returned"),
        ({"keys": {"good": "K"}}, "'K' cannot be one"),
        ({"keys": {"good": " "}}, "' ' cannot be one"),
        ({"keys": {"good": "10"}}, "length <= 1"),
        ({"keys": {"dance": "y"}}, "nothing is called 'dance'"),
        ({"error_types": ["slip", "slip"]}, "error_types: 'slip' stands there twice"),
        ({"policy_clauses": [{"name": "  "}]}, "policy_clauses: every entry needs a name"),
        ({"error_types": [{"name": "slip", "colour": "red"}]}, "unknown field"),
        ({"answers": {"good": {"colour": "#00ff00"}}}, "Invalid enum value"),
        ({"answers": {"fine": {}}}, "unknown field"),
        ({"recovery": True}, "do not stop at the first one"),
        ({"critique": "sung"}, "Invalid enum value"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(scheme, said):
    with pytest.raises(msgspec.ValidationError) as refused:
        parse_scheme(scheme)
    assert said in str(refused.value)


def test_two_keys_may_change_places():
    scheme = parse_scheme({"keys": {"good": "3", "bad": "1"}})
    assert scheme.keys == {"good": "3", "bad": "1"}


def test_a_bare_name_is_a_term_without_more():
    scheme = parse_scheme({"error_types": ["slip", {"name": "gap", "help": "A step is missing.", "group": "logic"}]})
    assert scheme.error_types == [Term("slip"), Term("gap", "A step is missing.", "logic")]


def test_blanks_around_a_name_are_none_of_it():
    scheme = parse_scheme({"error_types": [" slip ", {"name": "gap\n", "group": " logic"}]})
    assert scheme.error_types == [Term("slip"), Term("gap", group="logic")]
    assert scheme.error_names == ["slip", "gap"]


def test_an_empty_scheme_is_prm800ks_phase_2():
    assert parse_scheme({}) == LabelScheme()


def test_the_keys_are_those_that_the_workbench_looks_up():
    found = {about: key for key, about in SHORTCUT.findall(KEYS.read_text()) if about != "redo"}
    assert found == DEFAULT_KEYS


@given(st.dictionaries(st.sampled_from([*DEFAULT_KEYS]), st.sampled_from("0ql5689u,.x!"), max_size=8))
def test_a_scheme_that_gave_a_key_away_before_it_could_be_renamed_is_one_still(keys):
    """As it was read then: what came later gave way, and could not be named."""
    later = {**THREE, **TWO}
    before = {name: key for name, key in keys.items() if name not in later}
    others = [key for name, key in (DEFAULT_KEYS | before).items() if name not in later]
    assume(len({*others}) == len(others))
    moved = before | keys_for_three(before)
    moved |= keys_for_two(moved)
    assert parse_scheme({"keys": moved}).keys == moved
    assert {name: moved[name] for name in before} == before
    assert {*moved} - {*before} >= {name for name, key in later.items() if key in before.values()}
