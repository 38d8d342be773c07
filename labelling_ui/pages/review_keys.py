"""The keys of a case: those that the project's scheme gives its answers, and the page's own where they are left."""

from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase

from annotation.models.scheme import DEFAULT_KEYS, LabelScheme
from labelling_ui.templatetags.answers import USUAL

# What both pages do has the key that it has in the workbench; by the name of it there.
SHARED = {"first_error": "firstError", "next": "next", "previous": "previous", "skip": "s", "undo": "z", "keys": "?"}
OWN = {"difference": "n", "fold": "o", "names": "w", "more": "m"}
PRESSED = {"skip", "undo", "keys", "names"}
LETTERS = 4


@dataclass(frozen=True)
class CaseKeys:
    """`of` has the key of each thing to do, `letters` those that decide as somebody says, `actions` what a key does.

    An action is `rate:` with the value of an answer, `press` for a button that names the key, or the script's own.
    """

    of: dict[str, str]
    letters: list[str]
    actions: dict[str, str]


def keys_of(scheme: LabelScheme) -> CaseKeys:
    """Keys of the scheme come first: whoever rates by them in the workbench decides nothing by them here."""
    named = DEFAULT_KEYS | scheme.keys
    of = {name: named[name] for name in (*USUAL, *SHARED)}
    actions = {of[kind]: f"rate:{value}" for kind, (_, _, value) in USUAL.items()}
    actions |= {of[name]: "press" if name in PRESSED else action for name, action in SHARED.items()}
    letters: list[str] = []
    for _ in range(LETTERS):
        letters.append(_free(ascii_lowercase, {*actions, *OWN.values(), *letters}))
    for name, preferred in OWN.items():
        of[name] = _free((preferred, *ascii_lowercase), {*actions, *letters})
        actions[of[name]] = "press" if name in PRESSED else name
    actions |= {key: "press" for letter in letters for key in (letter, letter.upper())}
    return CaseKeys(of, letters, actions)


def _free(wanted: Iterable[str], used: set[str]) -> str:
    return next(key for key in wanted if key not in used)
