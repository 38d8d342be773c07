"""The keys of a case: first those that the scheme gives its answers, then the page's own."""

from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase

from annotation.models.scheme import DEFAULT_KEYS, LabelScheme
from labelling_ui.templatetags.answers import USUAL

# Actions that the workbench also has keep its key.
SHARED = ("first_error", "next", "previous", "skip", "undo", "keys")
OWN = {"difference": "n", "fold": "o", "names": "w", "more": "m"}
PRESSED = {"skip", "undo", "keys", "names"}
LETTERS = 4


@dataclass(frozen=True)
class CaseKeys:
    """`of` has the key of each action, `letters` the keys that accept a label, `actions` the action of each key.

    An action is `rate:` with the value of an answer, `press` for a button that names the key, or the script's own.
    """

    of: dict[str, str]
    letters: list[str]
    actions: dict[str, str]


def keys_of(scheme: LabelScheme) -> CaseKeys:
    """Keys of the scheme come first, so that a rating key of the workbench never decides a case."""
    named = DEFAULT_KEYS | scheme.keys
    of = {name: named[name] for name in (*USUAL, *SHARED)}
    actions = {of[kind]: f"rate:{value}" for kind, (_, _, value) in USUAL.items()}
    actions |= {of[name]: "press" if name in PRESSED else name for name in SHARED}
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
