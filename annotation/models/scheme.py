"""A project's label scheme: the questions about a solution, and the look and keys of the answers."""

from collections import Counter
from typing import Annotated, Any, Literal

import msgspec

from annotation.core.bounds import about
from prm.messages import Message

Colour = Literal["blue", "teal", "green", "yellow", "orange", "red", "purple", "grey"]
Progress = Annotated[int, msgspec.Meta(ge=0, le=4)]
Key = Annotated[str, msgspec.Meta(min_length=1, max_length=1)]

# The keys of the workbench's commands: those in SHORTCUTS of the front end's ui/keys.ts that are signs, by `about`.
DEFAULT_KEYS = {
    "good": "1",
    "neutral": "2",
    "bad": "3",
    "unsure": "4",
    "next": "j",
    "previous": "k",
    "first_error": "e",
    "no_error": "0",
    "choose": "x",
    "complete": "n",
    "flag": "f",
    "comment": "c",
    "error_type": "t",
    "clause": "p",
    "consistency": "i",
    "redundant": "d",
    "recovers": "y",
    "critique": "w",
    "progress": "m",
    "own_step": "o",
    "go_to": "q",
    "search": "/",
    "mark": "a",
    "hint": "h",
    "reference": "r",
    "guidelines": "g",
    "break": "b",
    "undo": "z",
    "skip": "s",
    "give_up": "9",
    "bad_problem": "8",
    "decide": "v",
    "returned": "l",
    "keys": "?",
}


class Look(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The look of an answer. An empty name or help means the workbench's own text, in the reader's language.

    Every answer also has a sign of its own shape, so that colour is never the only difference.
    """

    name: Annotated[
        str, msgspec.Meta(max_length=40), about("The name of the answer; empty for the workbench's own.")
    ] = ""
    help: Annotated[str, msgspec.Meta(max_length=300), about("An explanation; empty for the workbench's own.")] = ""
    colour: Annotated[Colour | None, about("The colour of the answer.")] = None


class Answers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The look of the four answers. Their meaning, and the stored labels, are the same in every project."""

    good: Annotated[Look, about("For good steps.")] = msgspec.field(default_factory=Look)
    neutral: Annotated[Look, about("For neutral steps.")] = msgspec.field(default_factory=Look)
    bad: Annotated[Look, about("For bad steps.")] = msgspec.field(default_factory=Look)
    unsure: Annotated[Look, about("For steps that the annotator cannot decide.")] = msgspec.field(default_factory=Look)


class Term(msgspec.Struct, forbid_unknown_fields=True):
    """An entry of a list of choices: an error type or a policy clause. Entries of one `group` are shown together."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=100), about("The entry.")]
    help: Annotated[str, msgspec.Meta(max_length=2000), about("An explanation; empty for the workbench's own.")] = ""
    group: Annotated[str, msgspec.Meta(max_length=100), about("Entries of one group are shown together.")] = ""

    def __post_init__(self) -> None:
        self.name, self.group = self.name.strip(), self.group.strip()  # submissions name the entry without blanks


class LabelScheme(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How annotators rate. The default is PRM800K phase 2: stop at the first error.

    - `offer_neutral`, `offer_unsure`: answers besides good and bad.
    - `offer_accepting`: one key rates several steps as good, those before a first error or all remaining ones. Without
      it, every step is rated by itself.
    - After the first error, a project can ask how far the solution got (`ask_progress`), for a `critique` of the wrong
      step ("written" by the annotator; or "given" critiques to rate, and a written one if none of them is good), for
      ratings of the alternatives at its position, and for the annotator's own step.
    - About every step, a project can ask which `policy_clauses` it breaks, whether it is consistent with an earlier
      step, whether it is redundant and, if rating continues after an error, whether it recovers from one.
    - `keys` overrides keys of DEFAULT_KEYS.
    - `choose_path` is PRM800K phase 1: at each position the annotator chooses one of the candidates, or writes a step
      (`ask_own_step`), before the candidates of the next position are shown. With `rate_alternatives` every candidate
      that was shown needs a rating, without it only the chosen one.
    """

    stop_at_first_error: Annotated[bool, about("Whether labelling ends at the first error.")] = True
    rate_alternatives: Annotated[bool, about("Whether to rate the other completions at the position too.")] = True
    ask_own_step: Annotated[bool, about("Whether to ask for the annotator's own step.")] = False
    choose_path: Annotated[bool, about("Whether annotators choose among completions.")] = False
    ask_progress: Annotated[bool, about("Whether to ask how far the solution got.")] = False
    critique: Annotated[Literal["none", "written", "given"], about("Where critiques of a bad step come from.")] = "none"
    offer_neutral: Annotated[bool, about("Whether a step can be neutral.")] = True
    offer_unsure: Annotated[bool, about("Whether a step can be unsure.")] = True
    offer_accepting: Annotated[bool, about("Whether one key may rate several steps as good.")] = True
    answers: Annotated[Answers, about("The look of the four answers.")] = msgspec.field(default_factory=Answers)
    keys: Annotated[dict[str, Key], about("The keys of the workbench that differ from the default.")] = {}
    error_types: Annotated[list[Term], about("The types of error that annotators choose from.")] = []
    policy_clauses: Annotated[list[Term], about("The clauses of the policy that a step can break.")] = []
    consistency: Annotated[bool, about("Whether to ask if a step agrees with earlier ones.")] = False
    redundancy: Annotated[bool, about("Whether to ask if a step is redundant.")] = False
    recovery: Annotated[bool, about("Whether to ask if a step recovers from an error.")] = False
    reference: Annotated[
        Literal["shown", "on_request", "hidden"], about("Whether annotators see the reference answer.")
    ] = "shown"

    @property
    def error_names(self) -> list[str]:
        return [term.name for term in self.error_types]

    @property
    def clause_names(self) -> list[str]:
        return [term.name for term in self.policy_clauses]

    def __post_init__(self) -> None:
        _check_keys(self.keys)
        _check_names("error_types", self.error_types)
        _check_names("policy_clauses", self.policy_clauses)
        if self.recovery and self.stop_at_first_error:
            raise ValueError(Message("recovery_behind_first_error"))


def parse_scheme(value: dict[str, Any]) -> LabelScheme:
    """The scheme in a JSON object, where a name in a list of terms is a term. Raises msgspec.ValidationError."""
    lists = ("error_types", "policy_clauses")
    named = {
        name: [{"name": term} if isinstance(term, str) else term for term in value[name]]
        for name in lists
        if isinstance(value.get(name), list)
    }
    return msgspec.convert(value | named, LabelScheme)


def _check_keys(keys: dict[str, str]) -> None:
    if unknown := next((name for name in keys if name not in DEFAULT_KEYS), None):
        raise ValueError(Message("unknown_key_name", unknown=unknown, known=", ".join(DEFAULT_KEYS)))
    if unfit := next((key for key in keys.values() if key != key.lower() or not key.isprintable() or key == " "), None):
        raise ValueError(Message("key_unusable", key=unfit))
    taken = Counter((DEFAULT_KEYS | keys).values())
    if twice := next((key for key, count in taken.items() if count > 1), None):
        names = [name for name, key in (DEFAULT_KEYS | keys).items() if key == twice]
        raise ValueError(Message("key_taken", key=twice, one=names[0], other=names[1]))


def _check_names(field: str, terms: list[Term]) -> None:
    counts = Counter(term.name for term in terms)
    if "" in counts:
        raise ValueError(Message("entry_without_name", field=field))
    if twice := next((name for name, count in counts.items() if count > 1), None):
        raise ValueError(Message("entry_repeated", field=field, name=twice))
