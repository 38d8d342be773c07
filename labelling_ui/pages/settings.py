"""What a project decides: its name and guidelines, its label scheme, its policies."""

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.errors import DomainError, Forbidden
from annotation.membership.projects import change_project
from annotation.models import Membership, Project
from annotation.rounds.gateway.training import check_training
from labelling_ui import words
from labelling_ui.pages.access import MANAGER, attempt, project_page, signed_in
from labelling_ui.pages.agreement_fields import FIELDS, AgreementFields, agreement_initial
from labelling_ui.pages.examples_form import example_rows, were_sent
from labelling_ui.pages.feedback_form import FeedbackFields, feedback_initial
from labelling_ui.pages.gold_form import GoldFields, gold_initial
from labelling_ui.pages.hints_form import HINTS, HintsFields, hints_initial
from labelling_ui.pages.pace_form import PaceFields, pace_initial
from labelling_ui.pages.queue_form import WANTED, QueueFields, queue_initial
from labelling_ui.pages.rounds_form import RoundsFields, rounds_initial
from labelling_ui.pages.scheme_form import SchemeFields, scheme_initial

CAPS = ("problem", "domain")
MIX = ("control", "holdout", "calibration", "overlap")


class SettingsForm(
    SchemeFields, QueueFields, PaceFields, RoundsFields, GoldFields, HintsFields, FeedbackFields, AgreementFields
):
    """The project as one form; the domain's own check of scheme and policy has the last word."""

    name = forms.CharField(max_length=200, label=gettext_lazy("Name"))
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea({"rows": 8}),
        label=gettext_lazy("Guidelines"),
        help_text=gettext_lazy("Markdown, shown beside the work."),
    )

    generation_budget = forms.IntegerField(label=gettext_lazy("Solutions a generation"))
    control = forms.FloatField(label=gettext_lazy("Share of control"), help_text=gettext_lazy("0 to 1, at random"))
    holdout = forms.FloatField(label=gettext_lazy("Share of holdout"), help_text=gettext_lazy("measures the model"))
    calibration = forms.FloatField(
        label=gettext_lazy("Share of calibration"), help_text=gettext_lazy("fits its thresholds")
    )
    overlap = forms.FloatField(label=gettext_lazy("Share of overlap"), help_text=gettext_lazy("measures agreement"))

    acquisition = forms.ChoiceField(
        choices=[
            ("balanced_errors", gettext_lazy("likely errors and right solutions in balance, by uncertainty per cost")),
            ("first_error_bald", gettext_lazy("information about the first error, per cost")),
            ("first_error_entropy", gettext_lazy("uncertainty about the first error, per cost")),
            ("joint_bald", gettext_lazy("information about all steps together, per cost")),
            ("step_bald", gettext_lazy("information about each step by itself, per cost")),
            ("entropy", gettext_lazy("entropy")),
            ("margin", gettext_lazy("margin")),
            ("actprm", gettext_lazy("the ActPRM rule: unsure up to the first predicted error")),
            ("convincing_wrong_answer", gettext_lazy("convincing wrong answers")),
            ("surprisal", gettext_lazy("surprise at the least likely step")),
            ("random", gettext_lazy("random")),
        ],
        label=gettext_lazy("What to label next"),
    )
    problem = forms.IntegerField(
        required=False,
        label=gettext_lazy("Most solutions of a problem"),
        help_text=gettext_lazy("in the acquisition lane; empty: one of each, more only if needed"),
    )
    domain = forms.FloatField(
        required=False,
        label=gettext_lazy("Greatest share of a domain"),
        help_text=gettext_lazy("in the acquisition lane, 0 to 1; empty: no cap"),
    )
    cold_start = forms.ChoiceField(
        choices=[
            ("random", gettext_lazy("at random")),
            ("surprisal", gettext_lazy("what surprises the backbone")),
        ],
        label=gettext_lazy("First generation, before there is a model"),
    )
    neutral = forms.ChoiceField(
        choices=[
            ("positive", gettext_lazy("as good")),
            ("negative", gettext_lazy("as bad")),
            ("drop", gettext_lazy("not at all")),
        ],
        label=gettext_lazy("Neutral ratings train"),
    )
    training_sources = forms.MultipleChoiceField(
        choices=words.SOURCES,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Labels that train"),
    )
    backbone = forms.CharField(
        label=gettext_lazy("Backbone"),
        help_text=gettext_lazy("“tiny”, or the name or folder of a causal language model"),
    )
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

    consensus = forms.ChoiceField(
        choices=[
            ("reliability", gettext_lazy("by how reliable each annotator is")),
            ("shares", gettext_lazy("all alike")),
        ],
        label=gettext_lazy("Labels are weighed"),
    )
    labels_between_false_alarms = forms.IntegerField(
        label=gettext_lazy("Labels between false alarms"),
        help_text=gettext_lazy("at least so many judged labels, on average"),
    )
    hold_rounds = forms.BooleanField(
        required=False, label=gettext_lazy("Begin no round by itself while a suspected batch waits for a decision")
    )
    set_aside = forms.BooleanField(
        required=False, label=gettext_lazy("Set aside at once what other people’s labels speak against")
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

    general = ("name", "guidelines")
    queue = ("generation_budget", *MIX)
    rounds = (
        "acquisition",
        *CAPS,
        "cold_start",
        "neutral",
        "training_sources",
        "backbone",
        "gate_tolerance",
        "gate_min_holdout",
        "keep_models",
        "shadow_models",
    )

    watch = ("consensus", "labels_between_false_alarms", "hold_rounds", "set_aside")

    further = ("training",)

    def clean_training(self) -> dict[str, Any]:
        choices = self.cleaned_data["training"] or {}
        if not isinstance(choices, dict):
            raise forms.ValidationError(_("An object of choices is needed: { … }."))
        try:
            check_training(choices)
        except DomainError as error:
            raise forms.ValidationError(error.message) from None
        return choices

    def parts(self) -> list[dict[str, Any]]:
        """The form's fields under their headings."""
        titles = [
            (_("The project"), self.general),
            (_("How people rate"), self.rating),
            (_("What is asked at the first error"), self.at_error),
            (_("What else is asked of a step"), self.beside),
            (_("What the answers are called"), self.looks),
            (_("What the queue holds"), (*self.queue, *WANTED)),
            (_("How work is handed out"), self.handing_out),
            (_("How steadily people work"), self.pace),
            (_("What a round does"), self.rounds),
            (_("Which solutions teach, by their sources"), FIELDS),
            (_("How labels are weighed and watched"), self.watch),
            (_("Gold and screening"), self.hidden),
            (_("The model’s hints"), (*HINTS,)),
            (_("What people see of how they label"), self.told),
            (_("When rounds begin by themselves"), self.when),
        ]
        return [
            {
                "title": title,
                "fields": [self[name] for name in names],
                "timed": names is self.when,
                "by_four": names is self.looks,  # of each answer its name, key, colour and help
            }
            for title, names in titles
        ]

    def disclosed(self) -> list[forms.BoundField]:
        """What few projects need, shown when asked for."""
        return [self[name] for name in self.further]

    def keys(self) -> list[forms.BoundField]:
        """The keys besides those of the answers."""
        return [self[name] for name in self.further_keys]

    def changes(self, project: Project) -> dict[str, Any]:
        """What `change_project` takes; a policy that has no field here stays."""
        data = self.cleaned_data
        named = (*self.queue, *self.rounds, *self.further)
        policy: dict[str, Any] = {name: data[name] for name in named if name not in (*MIX, *CAPS)}
        policy["mix"] = {lane: data[lane] for lane in MIX}
        policy["caps"] = {name: data[name] for name in CAPS}
        policy["quality"] = {name: data[name] for name in self.watch}
        policy["queue"] = self.queue_policy()
        policy["pace"] = {name: data[name] for name in self.pace}
        policy["rounds"] = self.rounds_policy()
        policy |= self.gold_policies()
        policy["hints"] = self.hints_policy()
        policy["feedback"] = self.feedback_policy()
        policy["training_agreement"] = self.agreement()
        return {
            "name": data["name"],
            "guidelines": data["guidelines"],
            "scheme": self.label_scheme(),
            "policy": project.policy | policy,
        }

    def blame(self, error: DomainError) -> None:
        """Show the domain's refusal at the field it names: "... - at `$.mix.control`"."""
        message, _sign, place = error.message.partition(" - at `$.")
        if place:
            message = message.partition(": ")[2]
        named = re.split(r"[.\[`]", place) if place else [error.extra.get("field", "")]
        if "wanted" in named:
            named = [f"wanted_{name}" for name in named]
        if "hints" in named:
            named = [f"hints_{name}" for name in named]
        field = next((name for name in reversed(named) if name in self.fields), None)
        self.add_error(field, message)


def initial_of(project: Project) -> dict[str, Any]:
    """The form's fields as the project has them now, defaults filled in."""
    policy = project.policies
    values = scheme_initial(project.label_scheme)
    values |= {lane: getattr(policy.mix, lane) for lane in MIX}
    values |= {name: getattr(policy.quality, name) for name in SettingsForm.watch}
    values |= {name: getattr(policy.caps, name) or "" for name in CAPS}
    names = (*SettingsForm.queue, *SettingsForm.rounds, *SettingsForm.further)
    values |= {name: getattr(policy, name) for name in names if name not in (*MIX, *CAPS)}
    values |= queue_initial(policy.queue) | pace_initial(policy.pace) | rounds_initial(policy.rounds)
    values |= gold_initial(policy) | hints_initial(policy.hints) | feedback_initial(policy)
    values |= agreement_initial(policy.training_agreement)
    return values | {"name": project.name, "guidelines": project.guidelines}


@project_page(MANAGER)
def settings(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    sent = request.POST if request.method == "POST" else None
    form = SettingsForm(sent, initial=initial_of(project))
    examples = example_rows(project, sent if sent and were_sent(sent) else None)
    if form.is_valid() and (not examples.is_bound or examples.is_valid()):
        changes = form.changes(project) | ({"examples": examples.examples()} if examples.is_bound else {})
        try:
            change_project(by=signed_in(request), project=project, **changes)
        except Forbidden:
            raise
        except DomainError as error:
            form.blame(error)
        else:
            messages.success(request, _("Saved. The queue keeps what it holds; the next generation follows these."))
            return redirect("settings", project.slug)
    return render(request, "labelling_ui/settings.html", {"member": member, "form": form, "examples": examples})


@require_POST
@project_page(MANAGER)
def set_state(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Pause or resume."""
    paused = request.POST.get("state") == Project.State.PAUSED
    told = _("Paused: nobody gets new work until you resume.") if paused else _("People can label again.")
    attempt(request, told, change_project, project=member.project, state=request.POST.get("state", ""))
    return redirect("settings", member.project.slug)
