"""A label scheme is refused when it is written, with what is wrong in it."""

import re
from pathlib import Path

import msgspec
import pytest
from django.conf import settings

from annotation.models import parse_scheme
from annotation.models.scheme import DEFAULT_KEYS, LabelScheme, Term

KEYS = Path(settings.BASE_DIR) / "labelling_ui" / "frontend" / "src" / "ui" / "keys.ts"
SHORTCUT = re.compile(r'\{ keys: \[DEFAULT_KEYS\.(\w+)(?:, "\w+")?\], command: .* about: "(\w+)" \}')
LITERAL = re.compile(r'\{ keys: \["[^"]"')


@pytest.mark.parametrize(
    ("scheme", "said"),
    [
        ({"keys": {"good": "k"}}, "'k' is assigned to both good and previous"),
        ({"keys": {"good": "0"}}, "'0' is assigned to both good and no_error: choose another key for one of them"),
        ({"keys": {"bad": "q"}}, "'q' is assigned to both bad and go_to"),
        ({"keys": {"no_error": "l"}}, "'l' is assigned to both no_error and returned"),
        ({"keys": {"good": "K"}}, "'K' cannot be used"),
        ({"keys": {"good": " "}}, "' ' cannot be used"),
        ({"keys": {"good": "10"}}, "length <= 1"),
        ({"keys": {"dance": "y"}}, "there is no action 'dance'"),
        ({"error_types": ["slip", "slip"]}, "error_types: 'slip' is listed twice"),
        ({"policy_clauses": [{"name": "  "}]}, "policy_clauses: every entry needs a name"),
        ({"error_types": [{"name": "slip", "colour": "red"}]}, "unknown field"),
        ({"answers": {"good": {"colour": "#00ff00"}}}, "Invalid enum value"),
        ({"answers": {"fine": {}}}, "unknown field"),
        ({"recovery": True}, "do not stop at the first error"),
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
    found = [(name, about) for name, about in SHORTCUT.findall(KEYS.read_text())]
    assert sorted(found) == sorted((name, name) for name in DEFAULT_KEYS)
    assert not LITERAL.search(KEYS.read_text())  # every sign is the server's
