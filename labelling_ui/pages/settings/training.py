"""The parts of the settings that say what a run learns from, how it trains, and what the gate asks."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.core.errors import DomainError
from annotation.core.wording import in_words
from annotation.loop.gateway.training import check_training
from annotation.models import Project, choices
from labelling_ui.pages.agreement_fields import AgreementFields, agreement_initial
from labelling_ui.pages.settings.part import Part, PolicyPart


class TrainingPart(PolicyPart):
    """What trains, and how."""

    heading = gettext_lazy("What a round trains")

    neutral = forms.ChoiceField(
        choices=[
            ("positive", gettext_lazy("as good")),
            ("negative", gettext_lazy("as bad")),
            ("drop", gettext_lazy("not at all")),
        ],
        label=gettext_lazy("Neutral ratings train"),
    )
    training_sources = forms.MultipleChoiceField(
        choices=choices.SOURCE_KINDS,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Labels that train"),
    )
    backbone = forms.CharField(
        label=gettext_lazy("Backbone"),
        help_text=gettext_lazy("“tiny”, or the name or folder of a causal language model that your operator listed"),
    )
    training = forms.JSONField(
        required=False,
        widget=forms.Textarea({"rows": 6, "spellcheck": "false"}),
        label=gettext_lazy("Choices, as JSON"),
        help_text=gettext_lazy(
            'What the training guide (docs/training.md) calls the config: {"lane": "lora", "epochs": 3}. '
            "What is left out has its default."
        ),
    )

    def clean_training(self) -> dict[str, Any]:
        choices = self.cleaned_data["training"] or {}
        if not isinstance(choices, dict):
            raise forms.ValidationError(_("An object of choices is needed: { … }."))
        try:
            check_training(choices)
        except DomainError as error:
            raise forms.ValidationError(in_words(error.message)) from None
        return choices


class SourcesPart(AgreementFields, Part):
    """The rule of agreement between sources."""

    heading = gettext_lazy("Which solutions teach, by their sources")

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return agreement_initial(project.policies.training_agreement)

    def changes(self) -> dict[str, Any]:
        return {"policy": {"training_agreement": self.agreement()}}


class GatePart(PolicyPart):
    """When a model is promoted, which are kept, and what is compared."""

    heading = gettext_lazy("What the gate asks, and what is kept")

    gate_tolerance = forms.FloatField(
        label=gettext_lazy("Loss of F1 the gate tolerates"), help_text=gettext_lazy("0.02 is two points")
    )
    gate_min_holdout = forms.IntegerField(label=gettext_lazy("Labelled holdout solutions the gate needs"))
    keep_models = forms.IntegerField(
        label=gettext_lazy("Latest models that keep their weights"),
        help_text=gettext_lazy("besides those that serve and those that are pinned"),
    )
    shadow_models = forms.BooleanField(
        required=False,
        label=gettext_lazy("Compare acquisition with control after each round"),
        help_text=gettext_lazy("trains three more models on equal labelling time, which never serve"),
    )
