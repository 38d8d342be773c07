"""What a label says of a step beside its rating, in words."""

from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import StepRating
from labelling_ui.answer_looks import ANSWERS_TO_A_CRITIQUE

# How far a solution had got at its first error, from 0.
PROGRESS = (
    gettext_lazy("nowhere"),
    gettext_lazy("begun"),
    gettext_lazy("halfway"),
    gettext_lazy("nearly there"),
    gettext_lazy("all but the end"),
)


def beside_in_words(rating: StepRating) -> list[str]:
    """A phrase each; nothing of what other tools' files had of their own."""
    said = rating.dimensions
    clauses, earlier = said.get("clauses") or [], said.get("consistent_with")
    told = [_("breaks %(clauses)s") % {"clauses": ", ".join(map(str, clauses))}] if clauses else []
    if said.get("consistent") is False and isinstance(earlier, int):
        told.append(_("contradicts step %(n)s") % {"n": earlier + 1})
    elif said.get("consistent"):
        told.append(_("consistent with the steps before"))
    told += [_("redundant")] if said.get("redundant") else []
    told += [_("recovers from the error")] if said.get("recovers") else []
    return told + _critiques_in_words(said.get("critique_ratings"))


def _critiques_in_words(rated: Any) -> list[str]:
    names = {value: name for _kind, _sign, name, value in ANSWERS_TO_A_CRITIQUE}
    numbered = enumerate(map(str, rated if isinstance(rated, list) else []), 1)
    return [_("explanation %(n)s: %(answer)s") % {"n": n, "answer": names[one]} for n, one in numbered if one in names]


class Mark(NamedTuple):
    """A marked stretch of a step's text, `start` and `end` in code points, with what is said of it."""

    start: int
    end: int
    quote: str
    error_type: str
    comment: str

    @property
    def said(self) -> str:
        return ": ".join(filter(None, (self.error_type, self.comment)))


def marks(rating: StepRating | None) -> list[Mark]:
    """What is marked in a step; nothing where nothing is said of it."""
    found = rating.spans if rating else []
    text = rating.step.text if rating else ""
    return [
        Mark(one["start"], one["end"], text[one["start"] : one["end"]], one["error_type"], one["comment"])
        for one in found
    ]
