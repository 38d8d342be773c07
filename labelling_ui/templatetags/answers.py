"""The answers to a step in a project's own names and colours, and what a label says beside them.

A template reads a project's answers by `{% with answers=member.project|answers %}`.
"""

from typing import Any, NamedTuple

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Project, StepRating
from annotation.models.scheme import LabelScheme

register = template.Library()

# By answer: the sign, the name where the scheme gives none, and how a form sends it.
USUAL: dict[str, tuple[str, str | Promise, str]] = {
    "good": ("✓", _("good"), "1"),
    "neutral": ("~", _("neutral"), "0"),
    "bad": ("✗", _("bad"), "-1"),
    "unsure": ("?", _("unsure"), "unsure"),
}
# Whether an explanation that came with a step says what is wrong with it; the scheme's own names are of steps.
ANSWERS_TO_A_CRITIQUE = [(kind, *USUAL[kind]) for kind in ("good", "neutral", "bad")]
# How far a solution had got at its first error, from 0.
PROGRESS = (
    _("nowhere"),
    _("just started"),
    _("halfway"),
    _("nearly there"),
    _("all but the end"),
)


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


@register.filter
def answers(project: Project) -> Answers:
    return answers_of(project.label_scheme)


@register.filter
def beside_in_words(rating: StepRating) -> list[str]:
    """A phrase for each thing said beside the rating; nothing of what other tools' files had of their own."""
    beside = rating.dimensions
    clauses, earlier = beside.get("clauses") or [], beside.get("consistent_with")
    phrases = [gettext("breaks %(clauses)s") % {"clauses": ", ".join(map(str, clauses))}] if clauses else []
    if beside.get("consistent") is False and isinstance(earlier, int):
        phrases.append(gettext("contradicts step %(n)s") % {"n": earlier + 1})
    elif beside.get("consistent"):
        phrases.append(gettext("consistent with the steps before"))
    phrases += [gettext("redundant")] if beside.get("redundant") else []
    phrases += [gettext("recovers from the error")] if beside.get("recovers") else []
    return phrases + _critiques_in_words(beside.get("critique_ratings"))


def _critiques_in_words(rated: Any) -> list[str]:
    names = {value: name for _kind, _sign, name, value in ANSWERS_TO_A_CRITIQUE}
    numbered = enumerate(map(str, rated if isinstance(rated, list) else []), 1)
    return [
        gettext("explanation %(n)s: %(answer)s") % {"n": n, "answer": names[one]} for n, one in numbered if one in names
    ]


class Mark(NamedTuple):
    """A marked stretch of a step's text, `start` and `end` in code points, and the remark on it."""

    start: int
    end: int
    quote: str
    error_type: str
    comment: str

    @property
    def remark(self) -> str:
        return ": ".join(filter(None, (self.error_type, self.comment)))


@register.filter
def marks(rating: StepRating | None) -> list[Mark]:
    """The marks in a step's text."""
    if rating is None:
        return []
    text = rating.step.text
    return [
        Mark(one["start"], one["end"], text[one["start"] : one["end"]], one["error_type"], one["comment"])
        for one in rating.spans
    ]
