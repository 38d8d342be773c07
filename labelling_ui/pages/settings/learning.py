"""The settings of rounds: training, label sources, the gate and the schedule."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.bounds import refuse_unstorable
from annotation.core.errors import DomainError
from annotation.core.wording import in_words
from annotation.loop.gateway.training import check_training
from annotation.models import Project, choices
from annotation.models.rounds_policy import example_times, parse_cron, parse_window
from labelling_ui.pages.agreement_fields import AgreementFields, agreement_initial
from labelling_ui.pages.settings.part import Part, PolicyPart
from prm.messages import Message


class TrainingPart(PolicyPart):
    """The settings of training."""

    heading = _("Training data and model")

    neutral = forms.ChoiceField(
        choices=[
            ("positive", _("as good")),
            ("negative", _("as bad")),
            ("drop", _("exclude from training")),
        ],
        label=_("Treat neutral ratings"),
    )
    training_sources = forms.MultipleChoiceField(
        choices=choices.SOURCE_KINDS,
        widget=forms.CheckboxSelectMultiple,
        label=_("Label sources for training"),
    )
    graded_solutions = forms.IntegerField(
        label=_("Also learn from the answers’ grades of solutions that nobody has read"),
        help_text=_(
            "At most this many solutions of the pool with a right final answer, and as many with a wrong one. "
            "0 means none. Their weight is “graded_weight” in the training options. With an “estimate_weight” above 0, "
            "as many solutions with Monte Carlo estimates teach too."
        ),
    )
    backbone = forms.CharField(
        label=_("Backbone"),
        help_text=_("“tiny”, or the name or folder of a causal language model that your operator allows."),
    )
    training = forms.JSONField(
        required=False,
        widget=forms.Textarea({"rows": 6, "spellcheck": "false"}),
        label=_("Training options (JSON)"),
        help_text=_(
            'The config described in the training guide, such as {"lane": "lora", "epochs": 3}. Options '
            "you leave out keep their defaults."
        ),
    )

    def clean_training(self) -> dict[str, Any]:
        choices = self.cleaned_data["training"] or {}
        if not isinstance(choices, dict):
            raise forms.ValidationError(gettext("Enter a JSON object: { … }."))
        try:
            refuse_unstorable(choices)
            check_training(choices)
        except DomainError as error:
            raise forms.ValidationError(in_words(error.message)) from None
        return choices


class SourcesPart(AgreementFields, Part):
    """The agreement rule for sources."""

    heading = _("Comparison of sources")
    term = "source"
    note = _("Quality > Source comparison shows which solutions a rule drops.")

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return agreement_initial(project.policies.training_agreement)

    def changes(self) -> dict[str, Any]:
        return {"policy": {"training_agreement": self.agreement()}}


class GatePart(PolicyPart):
    """The settings of promotion, retention and the control comparison."""

    heading = _("Gate and retention")
    term = "gate"

    gate_tolerance = forms.FloatField(label=_("Tolerated loss of F1"), help_text=_("0.02 means two points."))
    gate_min_holdout = forms.IntegerField(label=_("Minimum labelled holdout solutions"))
    keep_models = forms.IntegerField(
        label=_("Models to keep"),
        help_text=_("The latest models keep their weights, as do pinned models and models that serve."),
    )
    shadow_models = forms.BooleanField(
        required=False,
        label=_("Compare acquisition with control after each round"),
        help_text=_("Trains three extra models on equal labelling time. They never serve."),
    )


def _time_zones() -> list[tuple[str, str]]:
    return [(zone, zone) for zone in sorted(available_timezones())]


class RoundsPart(PolicyPart):
    """The fields of `RoundsPolicy`; quiet hours are lines of a text."""

    heading = _("Automatic rounds")
    term = "run"
    section = "rounds"

    cron = forms.CharField(
        required=False,
        label=_("Schedule"),
        widget=forms.TextInput({"placeholder": "0 3 * * 1-5", "spellcheck": "false"}),
        help_text=_(
            "Cron format: minute, hour, day, month, weekday. Leave empty for no schedule. A scheduled "
            "round starts only if there are new labels."
        ),
    )
    time_zone = forms.ChoiceField(choices=_time_zones, label=_("Time zone"))
    after_labels = forms.IntegerField(label=_("Retrain after new labels"), help_text=_("0 means never."))
    drift_above = forms.FloatField(
        label=_("Retrain above score drift"),
        help_text=_("Population stability index of the champion’s scores. 0.25 is large; 0 means never."),
    )
    agreement_floor = forms.FloatField(
        label=_("Hold rounds below agreement"),
        help_text=_("Share of pairs with the same first error, 0 to 1. 0 never holds a round."),
    )
    quiet_hours = forms.CharField(
        required=False,
        label=_("Quiet hours"),
        widget=forms.Textarea({"rows": 3, "spellcheck": "false", "placeholder": "mon-fri 08:00-18:00"}),
        help_text=_(
            "One time range per line, such as 22:00-07:00 or mon-fri 08:00-18:00. No round starts in these hours."
        ),
    )
    runs_per_day = forms.IntegerField(label=_("Maximum runs per day"), help_text=_("0 means no limit."))
    training_hours_per_month = forms.FloatField(
        label=_("Maximum training hours per month"), help_text=_("0 means no limit.")
    )
    keep_days = forms.IntegerField(
        label=_("Retention of run files and logs (days)"),
        help_text=_("0 keeps them forever. Models have a separate policy."),
    )

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        values = super().values(project)
        return values | {"quiet_hours": "\n".join(values["quiet_hours"])}

    def clean_cron(self) -> str:
        cron = " ".join(self.cleaned_data["cron"].split())
        if cron:
            _refuse_wrong(parse_cron, cron, datetime.now(UTC))
        return cron

    def clean_quiet_hours(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["quiet_hours"].splitlines() if line.strip()]
        for line in lines:
            _refuse_wrong(parse_window, line)
        return lines

    def note(self) -> str:
        """The next rounds by the form's schedule and time zone; empty without a valid schedule."""
        cron, zone = self["cron"].value(), self["time_zone"].value()
        try:
            times = [date_format(time, "D Y-m-d H:i") for time in example_times(cron, zone)] if cron else []
        except ValueError:
            return ""
        words = {"times": " · ".join(times), "zone": zone}
        return gettext("Next scheduled rounds: %(times)s (%(zone)s)") % words if times else ""


def _refuse_wrong(check: Any, *values: Any) -> None:
    try:
        check(*values)
    except ValueError as error:
        raise forms.ValidationError(in_words(Message("full_stop", sentence=error))) from None
