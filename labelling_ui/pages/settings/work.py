"""The settings of work: generations, queue, costs, pace, hints, feedback, gold, screening and quality alarms."""

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

    heading = _("Generations")
    term = "generation"
    places = {
        **{lane: f"mix.{lane}" for lane in LaneMix.__struct_fields__},
        **{name: f"caps.{name}" for name in Caps.__struct_fields__},
    }

    generation_budget = forms.IntegerField(label=_("Solutions per generation"))
    control = forms.FloatField(label=_("Control share"), help_text=_("0 to 1. Drawn at random."))
    holdout = forms.FloatField(label=_("Holdout share"), help_text=_("0 to 1. Measures the model."))
    calibration = forms.FloatField(label=_("Calibration share"), help_text=_("0 to 1. Fits the model’s thresholds."))
    overlap = forms.FloatField(label=_("Overlap share"), help_text=_("0 to 1. Measures agreement."))
    acquisition = forms.ChoiceField(choices=_acquisitions, label=_("Acquisition function"))
    problem = forms.IntegerField(
        required=False,
        label=_("Maximum solutions per problem"),
        help_text=_("In the acquisition lane. Leave empty for one, or more only if needed."),
    )
    domain = forms.FloatField(
        required=False,
        label=_("Maximum share per domain"),
        help_text=_("In the acquisition lane, 0 to 1. Leave empty for no limit."),
    )
    cold_start = forms.ChoiceField(
        choices=[
            ("random", _("at random")),
            ("surprisal", _("highest surprisal under the backbone")),
        ],
        label=_("Selection of the first generation"),
    )


class QueuePart(PolicyPart):
    """The fields of `QueuePolicy`, with a field for each lane's labels."""

    heading = _("Assignment of work")
    term = "lease"
    section = "queue"
    places = {f"wanted_{lane}": f"queue.wanted.{lane}" for lane in LabelsWanted.__struct_fields__}

    wanted_acquisition = forms.IntegerField(
        label=_("Labels per solution: acquisition"), help_text=_("Each by a different person.")
    )
    wanted_control = forms.IntegerField(label=_("Control"))
    wanted_holdout = forms.IntegerField(label=_("Holdout"))
    wanted_calibration = forms.IntegerField(label=_("Calibration"))
    wanted_overlap = forms.IntegerField(label=_("Overlap"))

    lease_minutes = forms.IntegerField(label=_("Lease time (minutes)"))
    heartbeat_seconds = forms.IntegerField(
        label=_("Heartbeat interval (seconds)"), help_text=_("An open page renews its lease this often.")
    )
    prefetch_depth = forms.IntegerField(label=_("Prefetched solutions"))
    daily_cap = forms.IntegerField(
        label=_("Daily limit per person"),
        help_text=_("Solutions per day; 0 means no limit. Days follow the time zone of the rounds."),
    )
    cool_down_minutes = forms.IntegerField(
        label=_("Minimum gap between solutions to one problem (minutes)"), help_text=_("For the same person.")
    )
    problem_again = forms.ChoiceField(
        choices=[
            ("same_day", _("on the same day")),
            ("next_day", _("from the next day")),
            ("never", _("never")),
        ],
        label=_("Repeat a problem for the same person"),
    )


class CostsPart(PolicyPart):
    """The fields of `CostsPolicy`."""

    heading = _("Costs")
    section = "costs"
    note = _("Used to compare what labels cost. Nobody is paid from these figures.")

    hour = forms.FloatField(
        required=False,
        label=_("Cost of one hour of an annotator’s time"),
        help_text=_("Leave empty if you do not want to compare costs."),
    )
    currency = forms.CharField(
        label=_("Currency"),
        widget=forms.TextInput({"placeholder": "EUR", "spellcheck": "false"}),
        help_text=_("Three letters, such as EUR or USD."),
    )


class PacePart(PolicyPart):
    """The fields of `PacePolicy`."""

    heading = _("Pace")
    section = "pace"

    idle_seconds = forms.IntegerField(
        label=_("Idle timeout (seconds)"),
        help_text=_("Active time stops counting after this long without keys, pointer or scrolling."),
    )
    break_after_minutes = forms.IntegerField(label=_("Suggest a break after (minutes)"), help_text=_("0 means never."))
    session_goal = forms.IntegerField(
        label=_("Goal per session (solutions)"),
        help_text=_("0 means no goal. Each person can set their own."),
    )


class HintsPart(PolicyPart):
    """The fields of `HintsPolicy`, with the prefix `hints_`."""

    heading = _("The model’s hints")
    term = "hint"
    places = {f"hints_{name}": f"hints.{name}" for name in HintsPolicy.__struct_fields__}

    hints_share = forms.FloatField(
        label=_("Share of solutions with a hint"),
        help_text=_("Drawn for each person and solution, 0 to 0.5. The rest is the blind arm."),
    )
    hints_reveal = forms.ChoiceField(
        choices=[
            ("reached", _("when the step is reached")),
            ("rated", _("after the step is rated")),
            ("on_request", _("on request, with a key")),
        ],
        label=_("Show a step’s score"),
    )
    hints_lanes = forms.MultipleChoiceField(
        choices=[lane for lane in Lane.choices if lane[0] not in MEASURING_LANES],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Lanes with hints"),
        help_text=_(
            "Include gold, or people can tell from a hint that a solution is not gold. Exclude overlap to"
            " measure agreement without the model’s influence."
        ),
    )
    hints_roles = forms.MultipleChoiceField(
        choices=Membership.Role.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Roles that see hints"),
    )


class FeedbackPart(PolicyPart):
    """The fields of `FeedbackPolicy`, with the prefix `feedback_`."""

    heading = _("Feedback to annotators")
    places = {"feedback_gold": "feedback.gold", "feedback_peers": "feedback.peers"}

    feedback_gold = forms.BooleanField(
        required=False,
        label=_("Show people their results on hidden gold"),
        help_text=_("Past days only, after ten answers, so that nobody can tell which solutions are gold."),
    )
    feedback_peers = forms.BooleanField(
        required=False,
        label=_("Show people their agreement with others"),
        help_text=_("Past days only, after ten solutions."),
    )


class GoldPart(PolicyPart):
    """The fields of `GoldPolicy`."""

    heading = _("Hidden gold")
    term = "gold"
    section = "gold"

    share = forms.FloatField(
        label=_("Hidden gold share"),
        help_text=_("Share of each person’s work, 0 to 0.5."),
    )
    tolerance = forms.IntegerField(
        label=_("Tolerance (steps)"),
        help_text=_("How far a first error may be from the known one and still count as right."),
    )
    pause_below = forms.FloatField(
        label=_("Pause annotators below"),
        help_text=_("Share of right answers on the latest gold, 0 to 1. 0 means never."),
    )
    pause_after = forms.IntegerField(label=_("Gold answers considered for a pause"))
    seen_by = forms.FloatField(
        label=_("Gold wears out above"), help_text=_("Share of annotators who have seen it, 0 to 1.")
    )
    disputed_by = forms.FloatField(
        label=_("Gold is suspect above"),
        help_text=_("Share of good annotators who disagree with it, 0 to 1."),
    )


class ScreeningPart(PolicyPart):
    """The fields of `ScreeningPolicy`."""

    heading = _("Screening")
    term = "screening"
    section = "screening"

    items = forms.IntegerField(
        label=_("Gold solutions per screening"),
        help_text=_("New annotators label these first. 0 means no screening."),
    )
    pass_mark = forms.IntegerField(label=_("Pass mark"), help_text=_("Minimum number of right answers."))
    attempts = forms.IntegerField(label=_("Attempts"))
    feedback = forms.BooleanField(required=False, label=_("Show people their screening results"))
    exempt = forms.MultipleChoiceField(
        choices=Membership.Role.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Roles exempt from screening and pauses"),
    )


class WatchPart(PolicyPart):
    """The fields of `QualityPolicy`."""

    heading = _("Consensus and monitoring")
    term = "consensus"
    section = "quality"

    consensus = forms.ChoiceField(
        choices=lambda: [(name, in_words(CONSENSUS.get(name).title)) for name in CONSENSUS],
        label=_("Consensus method"),
    )
    labels_between_false_alarms = forms.IntegerField(
        label=_("Labels between false alarms"),
        help_text=_("Average number of labels per false alarm of all checks together, at least."),
    )
    hold_rounds = forms.BooleanField(
        required=False, label=_("Hold automatic rounds while a suspected batch awaits a decision")
    )
    set_aside = forms.BooleanField(
        required=False, label=_("Set aside a batch at once if other people’s labels contradict it")
    )
