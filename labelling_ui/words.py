"""Choices in the words of the interface."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

ALL = ("", _("all"))
OUTCOMES = [("correct", _("correct")), ("wrong", _("wrong")), ("unknown", _("unknown"))]
AUDIT_VERDICTS = [
    ("ok", _("ok")),
    ("attention", _("attention")),
    ("fail", _("fail")),
    ("cannot tell", _("cannot tell")),
]
# What an acquisition function looks for.
ACQUISITIONS = [
    ("balanced_errors", _("likely errors and right solutions in balance, by uncertainty per cost")),
    ("first_error_bald", _("information about the first error, per cost")),
    ("first_error_entropy", _("uncertainty about the first error, per cost")),
    ("joint_bald", _("information about all steps together, per cost")),
    ("step_bald", _("information about each step by itself, per cost")),
    ("entropy", _("entropy")),
    ("margin", _("margin")),
    ("actprm", _("the ActPRM rule: unsure up to the first predicted error")),
    ("convincing_wrong_answer", _("convincing wrong answers")),
    ("surprisal", _("surprise at the least likely step")),
    ("random", _("random")),
]
# How a lane was drawn: kept in English with the generation.
DRAWS = frozenset(
    {
        gettext_noop("at random"),
        gettext_noop("at random within domain, length and generator"),
        gettext_noop("ranked"),
    }
)
# The reasons that the workbench offers: kept in English, the same in every file.
REASONS = frozenset(
    {
        gettext_noop("Too hard for me"),
        gettext_noop("Too long to check"),
        gettext_noop("I cannot follow the notation"),
        gettext_noop("Something is missing"),
        gettext_noop("It has no single answer"),
        gettext_noop("It cannot be read"),
    }
)
