"""Form fields that choose a member, and tables of figures per member."""

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.models import MEMBER_NAME, LabelSource, Membership, Project
from annotation.models.consensus_fit import AnnotatorFigures
from labelling_ui.numbers import decimal
from labelling_ui.pages.columns import Column, Estimate, Number
from labelling_ui.templatetags.figures import percent, source_in_words
from prm.consensus import Reliability


class Figures(NamedTuple):
    """The figures of a member, a source or a generation."""

    who: Any
    figures: Any


class FittedAnnotator(NamedTuple):
    """An annotator in a consensus fit with the name that pages show, and the query of the list of their labels."""

    name: str
    shown: str
    query: str
    reliability: Reliability
    group: str


def fitted_annotators(project: Project, figures: Iterable[AnnotatorFigures]) -> list[FittedAnnotator]:
    """The annotators of a fit, least informed first. Former names stay as they are."""
    members = {str(one.pseudonym): one.shown_name for one in project.memberships.select_related("user")}
    sources = {str(source): source for source in project.label_sources.all()}
    rows = []
    for one in figures:
        shown, query = one.name, ""
        who, _sign, version = one.name.partition(" ")
        if who in members:
            shown, query = ", ".join(filter(None, [members[who], version])), f"annotator={who}"
        elif source := sources.get(one.name.strip()):
            shown, query = source_named(source), f"source={source.kind}"
        rows.append(FittedAnnotator(one.name, shown, query, one.reliability, one.group))
    return sorted(rows, key=lambda row: row.reliability.value)


def source_named(source: LabelSource) -> str:
    """A source's name, with its kind if it has one."""
    kind = source_in_words(source.kind)
    return f"{source.name} ({kind})" if source.name else kind


PERSON = Column("by", _("Labels by"), "who__shown_name", heading=True)
ON_GOLD = [
    Number("answers", _("Answers"), "figures__right__of", help=_("The gold solutions that this person answered.")),
    Estimate(
        "right",
        _("Right"),
        "figures__right",
        write=percent,
        term="gold",
        help=_("The share of gold answers within the project’s tolerance of the known first error."),
    ),
    Estimate(
        "exact",
        _("Exact step"),
        "figures__exact",
        write=percent,
        help=_("The share of gold answers that name exactly the known first error."),
    ),
    Estimate(
        "within_one",
        _("Within one step"),
        "figures__within_one",
        write=percent,
        help=_("The share of gold answers at most one step from the known first error."),
    ),
    Estimate(
        "presence",
        _("Error or none"),
        "figures__presence",
        write=percent,
        help=_("The share of gold answers that are right about whether there is an error at all."),
    ),
]
FITTED = [
    Column("by", _("Labels by"), "shown", heading=True),
    Estimate("informedness", _("Informedness"), "reliability", write=partial(decimal, digits=2), term="informedness"),
    Number(
        "ratings",
        _("Ratings behind it"),
        "reliability__labels",
        term="rating",
        help=_("Ratings of steps that somebody else rated too, or whose rating is known."),
    ),
    Estimate(
        "finds",
        _("Bad steps found"),
        "reliability__finds",
        write=percent,
        help=_("The share of the bad steps that this person calls bad."),
    ),
    Estimate(
        "invents",
        _("False alarms"),
        "reliability__invents",
        write=percent,
        help=_("The share of the other steps that this person calls bad."),
    ),
    Column("group", _("Family"), help=_("Annotators of one family tend to make the same errors.")),
]


class PersonField(forms.ModelChoiceField):
    """A member, by name."""

    def label_from_instance(self, obj: Membership) -> str:
        return obj.shown_name


def people_of(project: Project) -> QuerySet[Membership]:
    """The people who can get work now, by name."""
    return everyone_in(project).filter(active=True).exclude(kind=Membership.Kind.MACHINE)


def everyone_in(project: Project) -> QuerySet[Membership]:
    """The members of a project by name: people, machines, former members and people from files."""
    return project.memberships.select_related("user").order_by(MEMBER_NAME)
