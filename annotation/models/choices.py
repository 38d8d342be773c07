"""The vocabularies as choices of fields and forms: each value with its name on pages."""

from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

Choices = list[tuple[str, str | Promise]]


class Lane(TextChoices):
    """Why an item is in the queue; never shown to the annotator."""

    ACQUISITION = "acquisition", _("acquisition")
    CONTROL = "control", _("control")
    HOLDOUT = "holdout", _("holdout")
    CALIBRATION = "calibration", _("calibration")
    OVERLAP = "overlap", _("overlap")
    PINNED = "pinned", _("pinned")
    GOLD = "gold", _("gold")
    SCREENING = "screening", _("screening")


HIDDEN_LANES = (Lane.SCREENING, Lane.GOLD)  # their labels measure annotators and train no model
MEASURING_LANES = (Lane.HOLDOUT, Lane.CALIBRATION)  # their labels measure the model


JUDGED_LANES = (Lane.ACQUISITION, Lane.CONTROL)  # where a route may lead to machine annotators


class Route(TextChoices):
    """Who labels a queue item."""

    PERSON = "person", pgettext_lazy("route", "person alone")
    JUDGE = "judge", pgettext_lazy("route", "judge alone")
    JUDGE_THEN_PERSON = "judge_then_person", pgettext_lazy("route", "judge, then person")


class Taker(TextChoices):
    """Who may take a queue item now."""

    PERSON = "person", pgettext_lazy("taker", "people")
    MACHINE = "machine", pgettext_lazy("taker", "machines")


class HandOver(TextChoices):
    """Why a person labels an item of a judge's route."""

    GAVE_UP = "gave_up", pgettext_lazy("hand-over", "a judge gave up")
    UNSURE = "unsure", pgettext_lazy("hand-over", "a judge was unsure")
    JUDGES_DIFFER = "judges_differ", pgettext_lazy("hand-over", "judges differ")
    MODEL_AGAINST = "model_against", pgettext_lazy("hand-over", "the model contradicts a judge")
    MODEL_DOUBT = "model_doubt", pgettext_lazy("hand-over", "the model is unsure")
    AUDIT = "audit", pgettext_lazy("hand-over", "audit")
    MANAGER = "manager", pgettext_lazy("hand-over", "by a manager")


class Role(TextChoices):
    ANNOTATOR = "annotator", pgettext_lazy("role", "Annotator")
    REVIEWER = "reviewer", _("Reviewer")
    MANAGER = "manager", _("Manager")


class MemberKind(TextChoices):
    """What a member is. A machine is a program that labels, a simulated member a program that stands for a person."""

    PERSON = "person", pgettext_lazy("kind of member", "Person")
    MACHINE = "machine", pgettext_lazy("kind of member", "Machine")
    SIMULATED = "simulated", pgettext_lazy("kind of member", "Simulated person")


class Scope(TextChoices):
    """What a token may do, within the role of its account."""

    CLAIM = "claim", _("tasks from the queue")
    SUBMIT = "submit", _("labels and decisions on labels")
    READ = "read", _("data and results")
    SCORE = "score", _("scores of the served model")
    TRAIN = "train", _("generations, samples, runs and models")
    EXPORT = "export", _("datasets and models to download")
    ADMIN = "admin", _("imports and all other changes")


SPLITS: Choices = [("pool", _("pool")), ("calibration", _("calibration")), ("holdout", _("holdout"))]
STEP_KINDS: Choices = [
    ("reasoning", _("Reasoning")),
    ("plan", _("Plan")),
    ("tool_call", _("Tool call")),
    ("observation", _("Observation")),
    ("edit", _("Edit")),
    ("answer", _("Answer")),
]
RATING_STATES: Choices = [
    ("rated", _("Rated")),
    ("unsure", _("Unsure")),
    ("not_reached", _("Not reached")),
]
FINISH_REASONS: Choices = [
    ("solution", _("all steps rated")),
    ("found_error", _("first error")),
    ("give_up", _("gave up")),
    ("bad_problem", _("bad problem")),
]
SOURCE_KINDS: Choices = [
    ("human", _("people")),
    ("simulated", _("simulated people")),
    ("consensus", _("consensus in a file")),
    ("model_judge", _("model judges")),
    ("monte_carlo", _("Monte Carlo estimates")),
    ("heuristic", _("heuristics")),
]
OUTCOME_SOURCES: Choices = [
    ("given", _("given with the solution")),
    ("grader", _("answer compared with the reference")),
    ("tests", _("tests that were run")),
]
VISIBILITIES: Choices = [
    ("raw", _("raw")),
    ("summary", _("a summary")),
    ("redacted", _("redacted")),
]
