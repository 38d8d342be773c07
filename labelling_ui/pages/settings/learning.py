"""The settings of rounds: training, label sources, the gate and the schedule."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

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

    heading = _("What a round trains")

    neutral = forms.ChoiceField(
        choices=[
            ("positive", _("as good")),
            ("negative", _("as bad")),
            ("drop", _("not at all")),
        ],
        label=_("Neutral ratings train"),
    )
    training_sources = forms.MultipleChoiceField(
        choices=choices.SOURCE_KINDS,
        widget=forms.CheckboxSelectMultiple,
        label=_("Labels that train"),
    )
    backbone = forms.CharField(
        label=_("Backbone"),
        help_text=_("“tiny”, or the name or folder of a causal language model that your operator listed"),
    )
    training = forms.JSONField(
        required=False,
        widget=forms.Textarea({"rows": 6, "spellcheck": "false"}),
        label=_("Choices, as JSON"),
        help_text=_(
            'What the training guide (docs/guides/ml-engineer.md) calls the config: {"lane": "lora", "epochs": 3}. '
            "What is left out has its default."
        ),
    )

    def clean_training(self) -> dict[str, Any]:
        choices = self.cleaned_data["training"] or {}
        if not isinstance(choices, dict):
            raise forms.ValidationError(gettext("An object of choices is needed: { … }."))
        try:
            check_training(choices)
        except DomainError as error:
            raise forms.ValidationError(in_words(error.message)) from None
        return choices


class SourcesPart(AgreementFields, Part):
    """The agreement rule for sources."""

    heading = _("Which solutions teach, by their sources")
    term = "source"

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return agreement_initial(project.policies.training_agreement)

    def changes(self) -> dict[str, Any]:
        return {"policy": {"training_agreement": self.agreement()}}


class GatePart(PolicyPart):
    """The settings of promotion, retention and the control comparison."""

    heading = _("What the gate asks, and what is kept")
    term = "gate"

    gate_tolerance = forms.FloatField(label=_("Loss of F1 the gate tolerates"), help_text=_("0.02 is two points"))
    gate_min_holdout = forms.IntegerField(label=_("Labelled holdout solutions the gate needs"))
    keep_models = forms.IntegerField(
        label=_("Latest models that keep their weights"),
        help_text=_("besides those that serve and those that are pinned"),
    )
    shadow_models = forms.BooleanField(
        required=False,
        label=_("Compare acquisition with control after each round"),
        help_text=_("trains three more models on equal labelling time, which never serve"),
    )


def _time_zones() -> list[tuple[str, str]]:
    return [(zone, zone) for zone in sorted(available_timezones())]


class RoundsPart(PolicyPart):
    """The fields of `RoundsPolicy`; quiet hours are lines of a text."""

    heading = _("When rounds begin by themselves")
    term = "run"
    section = "rounds"

    cron = forms.CharField(
        required=False,
        label=_("Schedule"),
        widget=forms.TextInput({"placeholder": "0 3 * * 1-5", "spellcheck": "false"}),
        help_text=_("Minute, hour, day, month, weekday; empty for none. A round needs new labels."),
    )
    time_zone = forms.ChoiceField(choices=_time_zones, label=_("Time zone"))
    after_labels = forms.IntegerField(label=_("Retrain after this many labels"), help_text=_("0 for never"))
    drift_above = forms.FloatField(
        label=_("Retrain when scores drift by more than"),
        help_text=_("Population stability index of the champion's scores: 0.25 is large, 0 for never"),
    )
    agreement_floor = forms.FloatField(
        label=_("Hold while agreement is below"),
        help_text=_("Share of pairs with the same first error, 0 to 1; 0 never holds"),
    )
    quiet_hours = forms.CharField(
        required=False,
        label=_("Quiet hours"),
        widget=forms.Textarea({"rows": 3, "spellcheck": "false", "placeholder": "mon-fri 08:00-18:00"}),
        help_text=_("One window a line, such as 22:00-07:00 or mon-fri 08:00-18:00"),
    )
    runs_per_day = forms.IntegerField(label=_("Runs a day, at most"), help_text=_("0 for no limit"))
    training_hours_per_month = forms.FloatField(
        label=_("Hours of training a month, at most"), help_text=_("0 for no limit")
    )
    keep_days = forms.IntegerField(
        label=_("Days a run's files and log are kept"),
        help_text=_("0 for ever; models are kept by a policy of their own"),
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
