"""The answers to a step in a project's own names and colours, and the dimensions of a label.

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

# By answer: the sign, the default name, and the form value.
USUAL: dict[str, tuple[str, str | Promise, str]] = {
    "good": ("✓", _("good"), "1"),
    "neutral": ("~", _("neutral"), "0"),
    "bad": ("✗", _("bad"), "-1"),
    "unsure": ("?", _("unsure"), "unsure"),
}
# Whether a given critique describes the error; the scheme's names are for steps.
ANSWERS_TO_A_CRITIQUE = [(kind, *USUAL[kind]) for kind in ("good", "neutral", "bad")]
# Progress of a solution at its first error, from 0.
PROGRESS = (
    _("nowhere"),
    _("just started"),
    _("halfway"),
    _("nearly there"),
    _("all but the end"),
)


class Answer(NamedTuple):
    """An answer; `renamed` if the name is the project's own, so that the sign alone is not enough."""

    kind: str
    sign: str
    name: str
    renamed: bool
    help: str
    value: str


class Answers(NamedTuple):
    """All four answers, since older labels may have any; `offered` are those of the current scheme.

    `style` sets the scheme's colours inside an element.
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
    """A phrase for each dimension of a rating, without fields that came from other tools' files."""
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
    """A marked span of a step's text, `start` and `end` in code points, with its remark."""

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
