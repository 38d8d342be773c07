"""The solution that a skill writes: it draws the story, records the steps, and adds mistakes.

A skill is a plain function that solves its problem correctly. Each computed value passes through `step` or `calc`,
which may record and return a wrong one, so that later steps follow from the mistake. In texts, "#" is the value and "|"
separates equivalent phrasings.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

from prm.sandbox import mistakes
from prm.sandbox.mistakes import Term, Value
from prm.traces import Step, StepLabel

GOOD = StepLabel(good=1.0, neutral=0.0, bad=0.0)
NEUTRAL = StepLabel(good=0.15, neutral=0.85, bad=0.0)
BAD = StepLabel(good=0.0, neutral=0.0, bad=1.0)
DISPUTED = StepLabel(good=0.5, neutral=0.3, bad=0.2)
DISPUTED_BAD = StepLabel(good=0.3, neutral=0.15, bad=0.55)

NAMES = ("Ada", "Ben", "Chloe", "Dan", "Eva", "Finn", "Grace", "Hugo", "Iris", "Jon", "Kim", "Leo", "Mia", "Noah")
THINGS = (
    "apples",
    "pens",
    "books",
    "cups",
    "stamps",
    "shirts",
    "lamps",
    "plants",
    "tickets",
    "cakes",
    "chairs",
    "maps",
)

ASIDES = (
    "Let me read the question once more.",
    "We have what we need so far.",
    "Let us keep this in mind and go on.",
    "So far so good.",
)
REMARKS = (
    "Nothing else in the question seems to matter here.",
    "I assume that the rest stays as it is.",
    "This looks about right, so no check is needed.",
    "The usual reading of the question is meant here.",
)
JUMPS = "Clearly this comes to #.|It is easy to see that we get #.|Skipping the details, the result is #."
LIKELIER = {"lost_term": 4, "copied_number": 2}
UNUSUAL_LEADS = (
    "Going the other way about,",
    "By a shortcut of mine,",
    "Pairing things off,",
    "Said differently,",
    "Picture it on a number line:",
    "In the old schoolbook manner,",
    "Whittling it down,",
    "Mind the trick:",
)
LATEX = {"*": r"\times", "/": r"\div"}


@dataclass(frozen=True)
class Habits:
    """The habits of a solver: the chance of each deviation at a step, and of an unconventional style throughout."""

    mistake: float = 0.0
    misconception: float = 0.0
    cancel: float = 0.0
    aside: float = 0.0
    disputed: float = 0.0
    unconventional: float = 0.0


@dataclass(frozen=True)
class Wrong:
    """One wrong version of a step: its kind, its text with "#" for the value, and the value."""

    kind: str
    text: str
    value: Value


@dataclass
class Work:
    """One solution while it is written.

    `story` draws the problem and is the same for every solution of it; `hand` draws the solution. `clean` has the
    values of the right solution, one per call of `step`; a solution may return to them.
    """

    story: Random
    hand: Random
    habits: Habits = Habits()
    clean: Sequence[Value] = ()
    problem: str = ""
    latex: bool = False
    final: str = ""
    steps: list[Step] = field(default_factory=list)
    labels: list[StepLabel] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    errors: list[tuple[int, str]] = field(default_factory=list)
    disputed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.unconventional = self.hand.random() < self.habits.unconventional
        self._cancelled = False
        self._cancels = self.hand.random() < self.habits.cancel

    # The story

    def pick(self, *options: Any) -> Any:
        """One of the options, as part of the story."""
        return self.story.choice(options)

    def num(self, low: int, high: int) -> int:
        """A number of the story from low to high, both included."""
        return self.story.randint(low, high)

    def two(self, options: Sequence[Any]) -> list[Any]:
        """Two different options of the story."""
        return self.story.sample(list(options), 2)

    def name(self) -> str:
        return str(self.pick(*NAMES))

    def thing(self) -> str:
        return str(self.pick(*THINGS))

    def ask(self, *parts: str) -> None:
        """Set the problem; the story selects a phrasing of each part."""
        self.problem = " ".join(self.story.choice(part.split("|")) for part in parts)

    # The steps

    def say(self, text: str, kind: str = "reasoning") -> None:
        """Write a right step without a value."""
        self._write(self.hand.choice(text.split("|")), GOOD, kind)

    def observe(self, text: str) -> None:
        """Write the result of a tool, which is never wrong."""
        self._write(text, GOOD, "observation")

    def calc(self, lead: str, *terms: Term, tail: str = "", myth: tuple[Any, ...] | None = None) -> Any:
        """Write a step that computes an expression; `myth` is a common misconception as (lead, *terms).

        Returns the written value, right or wrong.
        """
        wrong = [] if myth is None else [self._expressed("misconception", myth[0], myth[1:], tail)]
        for twist in (mistakes.wrong_operation, mistakes.lost_term, mistakes.copied_number):
            twisted = twist(terms, self.hand) if self.habits.mistake else None
            if twisted is not None and _is_sound(twisted):
                wrong.append(self._expressed(twist.__name__, lead, twisted, tail))
        right = self._expressed("", lead, terms, tail, detour=self.unconventional)
        return self._settle(right, wrong, "reasoning")

    def step(
        self,
        text: str,
        value: Value,
        *,
        myth: tuple[str, Value] | None = None,
        wrong: Sequence[tuple[str, str, Value]] = (),
        kind: str = "reasoning",
    ) -> Any:
        """Write a step with a value; `myth` is a misconception as (text, value), `wrong` are further errors by kind."""
        options = [Wrong(*option) for option in wrong]
        if myth is not None:
            options.append(Wrong("misconception", *myth))
        return self._settle(Wrong("", text, value), options, kind)

    def call(self, text: str, value: Value, *, wrong: Sequence[tuple[str, str, Value]] = (), myth: Any = None) -> Any:
        """Write a tool call with a value, and return the written value."""
        return self.step(text, value, wrong=wrong, myth=myth, kind="tool_call")

    def answer(self, text: str, value: Value, kind: str = "reasoning") -> None:
        """Write the last step, with the final answer."""
        self.final = self.show(self._settle(Wrong("", text, value), (), kind))

    def show(self, value: Value) -> str:
        """A value in the solution's notation."""
        if isinstance(value, Fraction):
            return rf"\frac{{{value.numerator}}}{{{value.denominator}}}" if self.latex else str(value)
        return str(value)

    def expression(self, terms: tuple[Term, ...]) -> str:
        """Terms in the solution's notation; negative numbers after the first term are in parentheses."""
        shown = [
            LATEX.get(term, term) if self.latex and isinstance(term, str)
            else f"({self.show(term)})" if i and not isinstance(term, str) and term < 0
            else self.show(term)
            for i, term in enumerate(terms)
        ]  # fmt: skip
        return " ".join(shown).replace("( ", "(").replace(" )", ")")

    def _expressed(self, kind: str, lead: str, terms: tuple[Term, ...], tail: str, detour: bool = False) -> Wrong:
        by_way = self._detour(terms) if detour else ""
        mark = "$" if self.latex else ""
        value = mistakes.evaluate(terms)
        equation = f"{mark}{self.expression(terms)} = {by_way}#{mark}"
        return Wrong(kind, "|".join(f"{option} {equation}{tail}." for option in lead.split("|")), value)

    def _detour(self, terms: tuple[Term, ...]) -> str:
        """A true but unusual intermediate expression for a simple one, else an empty text."""
        match terms:
            case (int(a), "*", int(b)) if b > 2:
                return self.expression((a, "*", b - 1, "+", a)) + " = "
            case (int(a), "+", int(b)) if b > 1:
                return self.expression((a + 1, "+", b - 1)) + " = "
            case (int(a), "-", int(b)) if b > 1:
                return self.expression((a - 1, "-", b - 1)) + " = "
        return ""

    def _settle(self, right: Wrong, wrong: Sequence[Wrong], kind: str) -> Any:
        """Write the step, right or wrong, and return its value for later steps."""
        self._wander()
        chosen, label = self._choose(right, [w for w in wrong if w.value != right.value], kind)
        text = self.hand.choice(chosen.text.split("|")).replace("#", self.show(chosen.value))
        if self.unconventional and kind == "reasoning" and self.hand.random() < 0.5:
            text = f"{self.hand.choice(UNUSUAL_LEADS)} {text[0].lower() if text[1:2].islower() else text[0]}{text[1:]}"
        if chosen.kind:
            self.errors.append((len(self.steps), chosen.kind))
        self._write(text, label, kind)
        self.values.append(chosen.value)
        return chosen.value

    def _choose(self, right: Wrong, wrong: list[Wrong], kind: str) -> tuple[Wrong, StepLabel]:
        """The right step or a wrong one, with its label."""
        chance = self.hand.random()
        if self.errors:
            return self._return_to_clean(right, chance), BAD if self._cancelled else GOOD
        myths = [w for w in wrong if w.kind == "misconception"]
        if myths and chance < self.habits.misconception:
            return myths[0], BAD
        leap = JUMPS.replace("#", "$#$") if self.latex else JUMPS
        jumps = kind == "reasoning" and not isinstance(right.value, str) and len(self.values) > 0
        if self.hand.random() < self.habits.mistake:
            options = [w for w in wrong if w.kind != "misconception" for _ in range(LIKELIER.get(w.kind, 1))]
            near = mistakes.slip(right.value, self.hand)
            if near is not None and near != right.value:
                options += [Wrong("slip", right.text, near)] * 2
                if jumps:
                    options.append(Wrong("unjustified_jump", leap, near))
            if options:
                return self.hand.choice(options), BAD
        if jumps and self.hand.random() < self.habits.disputed:
            self.disputed.append(len(self.steps))
            if self.hand.random() < 0.25:
                return Wrong("unjustified_jump", leap, right.value), DISPUTED_BAD
            return Wrong("", leap, right.value), DISPUTED
        return right, GOOD

    def _return_to_clean(self, right: Wrong, chance: float) -> Wrong:
        """After an error, occasionally a second one that cancels the first."""
        index = len(self.values)
        self._cancelled = (
            self._cancels
            and len(self.errors) == 1
            and chance < 0.6
            and index < len(self.clean)
            and type(self.clean[index]) is type(right.value)
            and self.clean[index] != right.value
        )
        return Wrong("cancelling", right.text, self.clean[index]) if self._cancelled else right

    def _wander(self) -> None:
        """Occasionally write a step without content, or one that people judge differently."""
        chance = self.hand.random()
        if chance < self.habits.aside:
            self._write(self.hand.choice(ASIDES), NEUTRAL)
        elif chance < self.habits.aside + self.habits.disputed:
            self.disputed.append(len(self.steps))
            self._write(self.hand.choice(REMARKS), DISPUTED)

    def _write(self, text: str, label: StepLabel, kind: str = "reasoning") -> None:
        self.steps.append(Step(text=text, kind=kind))
        self.labels.append(label)


def _is_sound(terms: tuple[Term, ...]) -> bool:
    """Whether an expression has a value that later steps can divide by."""
    try:
        return mistakes.evaluate(terms) != 0
    except ZeroDivisionError:
        return False


@dataclass(frozen=True)
class Skill:
    """One kind of problem: its name, its domain and the function that poses and solves it."""

    name: str
    domain: str
    solve: Callable[[Work], None]


SKILLS: dict[str, Skill] = {}  # filled by the decorator `skill`


def skill(domain: str) -> Callable[[Callable[[Work], None]], Callable[[Work], None]]:
    """A decorator that registers a function as a skill of a domain, under the function's name."""

    def declare(solve: Callable[[Work], None]) -> Callable[[Work], None]:
        name = solve.__name__
        if name in SKILLS:
            raise ValueError(f"two skills are named {name}")
        SKILLS[name] = Skill(name, domain, solve)
        return solve

    return declare
