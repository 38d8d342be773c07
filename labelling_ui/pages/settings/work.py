"""The settings of work: generations, queue, pace, hints, feedback, gold, screening and quality alarms."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.wording import in_words
from annotation.models import MEASURING_LANES, HintsPolicy, LabelsWanted, Lane, LaneMix, Membership
from annotation.models.policy import Caps
from labelling_ui.pages.settings.part import PolicyPart
from labelling_ui.templatetags.figures import acquisition_in_words
from prm.acquisition import FUNCTIONS
from prm.consensus import CONSENSUS


def _acquisitions() -> list[tuple[str, str]]:
    return [(name, acquisition_in_words(name)) for name in FUNCTIONS]


class GenerationsPart(PolicyPart):
    """The size and acquisition function of a generation, and the fields of `LaneMix` and `Caps`."""

    heading = _("What the queue holds")
    term = "lane"
    places = {
        **{lane: f"mix.{lane}" for lane in LaneMix.__struct_fields__},
        **{name: f"caps.{name}" for name in Caps.__struct_fields__},
    }

    generation_budget = forms.IntegerField(label=_("Solutions a generation"))
    control = forms.FloatField(label=_("Share of control"), help_text=_("0 to 1, at random"))
    holdout = forms.FloatField(label=_("Share of holdout"), help_text=_("measures the model"))
    calibration = forms.FloatField(label=_("Share of calibration"), help_text=_("fits its thresholds"))
    overlap = forms.FloatField(label=_("Share of overlap"), help_text=_("measures agreement"))
    acquisition = forms.ChoiceField(choices=_acquisitions, label=_("What to label next"))
    problem = forms.IntegerField(
        required=False,
        label=_("Most solutions of a problem"),
        help_text=_("in the acquisition lane; empty: one of each, more only if needed"),
    )
    domain = forms.FloatField(
        required=False,
        label=_("Greatest share of a domain"),
        help_text=_("in the acquisition lane, 0 to 1; empty: no cap"),
    )
    cold_start = forms.ChoiceField(
        choices=[
            ("random", _("at random")),
            ("surprisal", _("what surprises the backbone")),
        ],
        label=_("First generation, before there is a model"),
    )


class QueuePart(PolicyPart):
    """The fields of `QueuePolicy`, with a field for each lane's labels."""

    heading = _("How work is handed out")
    term = "lease"
    section = "queue"
    places = {f"wanted_{lane}": f"queue.wanted.{lane}" for lane in LabelsWanted.__struct_fields__}

    wanted_acquisition = forms.IntegerField(
        label=_("Labels of a solution: acquisition"), help_text=_("by so many people")
    )
    wanted_control = forms.IntegerField(label=_("Control"))
    wanted_holdout = forms.IntegerField(label=_("Holdout"))
    wanted_calibration = forms.IntegerField(label=_("Calibration"))
    wanted_overlap = forms.IntegerField(label=_("Overlap"))

    lease_minutes = forms.IntegerField(label=_("Minutes a solution stays claimed"))
    heartbeat_seconds = forms.IntegerField(
        label=_("Seconds between signs of life"), help_text=_("by which a page keeps its claim")
    )
    prefetch_depth = forms.IntegerField(label=_("Solutions fetched ahead"))
    daily_cap = forms.IntegerField(
        label=_("Solutions a person a day, at most"),
        help_text=_("0 for no limit; the day is that of the learning rounds’ time zone"),
    )
    cool_down_minutes = forms.IntegerField(
        label=_("Minutes between solutions of one problem"), help_text=_("for one person")
    )
    problem_again = forms.ChoiceField(
        choices=[
            ("same_day", _("on the same day")),
            ("next_day", _("on the next day at the earliest")),
            ("never", _("never")),
        ],
        label=_("The same problem comes to a person again"),
    )


class PacePart(PolicyPart):
    """The fields of `PacePolicy`."""

    heading = _("How steadily people work")
    section = "pace"

    idle_seconds = forms.IntegerField(
        label=_("Seconds of rest after which time stops counting"),
        help_text=_("with no key, no movement of the pointer and no scrolling"),
    )
    break_after_minutes = forms.IntegerField(
        label=_("Minutes of work after which a break is proposed"), help_text=_("0 for never")
    )
    session_goal = forms.IntegerField(
        label=_("Solutions that a sitting has as its goal"),
        help_text=_("0 for none; each person may set another"),
    )


class HintsPart(PolicyPart):
    """The fields of `HintsPolicy`, with the prefix `hints_`."""

    heading = _("The model’s hints")
    term = "hint"
    places = {f"hints_{name}": f"hints.{name}" for name in HintsPolicy.__struct_fields__}

    hints_share = forms.FloatField(
        label=_("Share of solutions with a hint"),
        help_text=_("drawn for each person and solution, 0 to 0.5; the others are what hints are held to"),
    )
    hints_reveal = forms.ChoiceField(
        choices=[
            ("reached", _("once the step is reached")),
            ("rated", _("once the step is rated")),
            ("on_request", _("on request, by a key")),
        ],
        label=_("The score of a step is shown"),
    )
    hints_lanes = forms.MultipleChoiceField(
        choices=[lane for lane in Lane.choices if lane[0] not in MEASURING_LANES],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Lanes with hints"),
        help_text=_(
            "Without gold among them, whoever sees a hint knows that the solution is no gold. Overlap measures how far "
            "people agree by themselves."
        ),
    )
    hints_roles = forms.MultipleChoiceField(
        choices=Membership.Role.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Who sees hints"),
    )


class FeedbackPart(PolicyPart):
    """The fields of `FeedbackPolicy`, with the prefix `feedback_`."""

    heading = _("What people see of how they label")
    places = {"feedback_gold": "feedback.gold", "feedback_peers": "feedback.peers"}

    feedback_gold = forms.BooleanField(
        required=False,
        label=_("Their share of right answers on hidden gold"),
        help_text=_("of days that are over, and from ten answers on, so that nobody learns what was gold"),
    )
    feedback_peers = forms.BooleanField(
        required=False,
        label=_("How often they agree with others on the same solutions"),
        help_text=_("of days that are over, and from ten solutions on"),
    )


class GoldPart(PolicyPart):
    """The fields of `GoldPolicy`."""

    heading = _("Hidden gold")
    term = "gold"
    section = "gold"

    share = forms.FloatField(
        label=_("Share of hidden gold"),
        help_text=_("of what each person is given, 0 to 0.5, where there is gold"),
    )
    tolerance = forms.IntegerField(
        label=_("Steps a first error may be off"), help_text=_("and still count as right on gold")
    )
    pause_below = forms.FloatField(
        label=_("Pause an annotator below"),
        help_text=_("share of the latest gold answers that are right, 0 to 1; 0 pauses nobody"),
    )
    pause_after = forms.IntegerField(label=_("Latest gold answers that count for a pause"))
    seen_by = forms.FloatField(label=_("Gold is worn out when seen by"), help_text=_("share of the annotators, 0 to 1"))
    disputed_by = forms.FloatField(
        label=_("Gold is suspect when disputed by"),
        help_text=_("share of the annotators who are good at other gold, 0 to 1"),
    )


class ScreeningPart(PolicyPart):
    """The fields of `ScreeningPolicy`."""

    heading = _("Screening")
    term = "screening"
    section = "screening"

    items = forms.IntegerField(
        label=_("Gold in a screening"),
        help_text=_("that everybody new labels first; 0 screens nobody"),
    )
    pass_mark = forms.IntegerField(label=_("Pass mark"), help_text=_("how many of them have to be right"))
    attempts = forms.IntegerField(label=_("Attempts"))
    feedback = forms.BooleanField(
        required=False, label=_("Show people afterwards which of their screening answers were right")
    )
    exempt = forms.MultipleChoiceField(
        choices=Membership.Role.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Neither screened nor paused"),
    )


class WatchPart(PolicyPart):
    """The fields of `QualityPolicy`."""

    heading = _("How labels are weighed and watched")
    term = "consensus"
    section = "quality"

    consensus = forms.ChoiceField(
        choices=lambda: [(name, in_words(CONSENSUS.get(name).title)) for name in CONSENSUS],
        label=_("Labels are weighed"),
    )
    labels_between_false_alarms = forms.IntegerField(
        label=_("Labels between false alarms"),
        help_text=_("at least so many judged labels, on average"),
    )
    hold_rounds = forms.BooleanField(
        required=False, label=_("Begin no round by itself while a suspected batch waits for a decision")
    )
    set_aside = forms.BooleanField(
        required=False, label=_("Set aside at once what other people’s labels speak against")
    )
