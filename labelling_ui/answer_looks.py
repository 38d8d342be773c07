"""The answers to a step as a project's scheme shows them: a sign of its own shape each, a name, a colour."""

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.models.scheme import LabelScheme

# By answer: the sign, the name where the scheme gives none, and how a form sends it.
USUAL: dict[str, tuple[str, str | Promise, str]] = {
    "good": ("✓", _("good"), "1"),
    "neutral": ("~", _("neutral"), "0"),
    "bad": ("✗", _("bad"), "-1"),
    "unsure": ("?", _("unsure"), "unsure"),
}


# Whether an explanation that came with a step says what is wrong with it; the scheme's own names are of steps.
ANSWERS_TO_A_CRITIQUE = [(kind, *USUAL[kind]) for kind in ("good", "neutral", "bad")]


class Answer(NamedTuple):
    """`renamed`: the name is the project's own, so that the sign alone does not say it."""

    kind: str
    sign: str
    name: str
    renamed: bool
    help: str
    value: str


class Answers(NamedTuple):
    """All four, since any may stand in an older label; `offered` are those that can be given now.

    `style` sets the scheme's colours for what lies within the element that bears it.
    """

    good: Answer
    neutral: Answer
    bad: Answer
    unsure: Answer
    offered: list[Answer]
    style: str


def answers_of(scheme: LabelScheme) -> Answers:
    looks = {kind: getattr(scheme.answers, kind) for kind in USUAL}
    shown = {
        kind: Answer(kind, sign, looks[kind].name or str(name), bool(looks[kind].name), looks[kind].help, value)
        for kind, (sign, name, value) in USUAL.items()
    }
    left_out = {"neutral": not scheme.offer_neutral, "unsure": not scheme.offer_unsure}
    offered = [answer for kind, answer in shown.items() if not left_out.get(kind)]
    colours = [f"--{kind}: var(--hue-{look.colour})" for kind, look in looks.items() if look.colour]
    return Answers(**shown, offered=offered, style="; ".join(colours))
