"""Choices in the words of the interface."""

from django.utils.translation import gettext_lazy as _

ALL = ("", _("all"))
FINISH_REASONS = [
    ("solution", _("all steps rated")),
    ("found_error", _("first error")),
    ("give_up", _("gave up")),
    ("bad_problem", _("bad problem")),
]
SPLITS = [("pool", _("pool")), ("calibration", _("calibration")), ("holdout", _("holdout"))]
VISIBILITIES = [("raw", _("raw")), ("summary", _("a summary")), ("redacted", _("redacted"))]
OUTCOMES = [("correct", _("correct")), ("wrong", _("wrong")), ("unknown", _("unknown"))]
SOURCES = [
    ("human", _("people")),
    ("simulated", _("simulated people")),
    ("consensus", _("consensus in a file")),
    ("model_judge", _("model judges")),
    ("monte_carlo", _("Monte Carlo estimates")),
    ("heuristic", _("heuristics")),
]
LANES = [
    ("acquisition", _("acquisition")),
    ("control", _("control")),
    ("holdout", _("holdout")),
    ("calibration", _("calibration")),
    ("overlap", _("overlap")),
    ("pinned", _("pinned")),
    ("gold", _("gold")),
    ("screening", _("screening")),
]
