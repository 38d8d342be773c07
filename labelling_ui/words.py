"""The names of stored values in the interface."""

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
# The triggers of automatic rounds.
TRIGGERS = [
    ("schedule", _("schedule")),
    ("labels", _("new labels")),
    ("drift", _("score drift")),
    ("import", _("imported model")),
]
# How a lane was drawn, stored in English with the generation.
DRAWS = frozenset(
    {
        gettext_noop("at random"),
        gettext_noop("at random within domain, length and generator"),
        gettext_noop("ranked"),
    }
)
# The workbench's predefined reasons, stored in English so that they are the same in every file.
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
