"""Sampling from a policy: the form, a preview of three samples, and the progress of each run."""

from functools import partial
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _

from annotation.core.errors import DomainError
from annotation.core.lifecycle import progress_of
from annotation.core.membership.members import domains_of
from annotation.core.wording import in_words
from annotation.loop.gateway.policies import endpoint_names
from annotation.loop.resuming import can_resume
from annotation.loop.sampling.policy_preview import preview_sampling
from annotation.loop.sampling.sampling_runs import SamplingPlan, start_sampling
from annotation.models import Membership, SampledProblem, SamplingRun
from labelling_ui.pages.access import MANAGER, attempt, project_action, project_page, signed_in, without_slug
from labelling_ui.pages.columns import Choice, Column, Number, Opening, State, When
from labelling_ui.pages.import_forms import ImportForm
from labelling_ui.pages.listing import Listing, respond
from labelling_ui.pages.struct_fields import struct_field
from labelling_ui.words import ALL

_field = partial(struct_field, SamplingPlan)


def endpoint_choices() -> list[tuple[str, str]]:
    """The operator's endpoints, each with the name of its model."""
    return [(name, f"{name} ({model})") for name, model in endpoint_names().items()]


class SamplingForm(forms.Form):
    endpoint = forms.ChoiceField(label=_("Policy"), choices=endpoint_choices)
    samples = _field("samples", label=_("Solutions per problem"))
    temperature = _field("temperature", label=_("Temperature"), widget=forms.NumberInput({"step": "0.1"}))
    max_tokens = _field("max_tokens", label=_("Token limit per solution"))
    choice = forms.ChoiceField(
        label=_("Problems"),
        choices=[
            (SamplingRun.Choice.ALL, _("all")),
            (SamplingRun.Choice.UNLABELLED, _("problems without labels")),
            (SamplingRun.Choice.FEWEST, _("problems with the fewest solutions")),
            (SamplingRun.Choice.UNCERTAIN, _("problems where the champion is least certain")),
        ],
    )
    domain = forms.ChoiceField(label=_("Domain"), required=False)
    most_problems = _field("most_problems", label=_("Problem limit"))
    token_budget = _field(
        "token_budget",
        label=_("Token budget"),
        help_text=_("Includes prompts. A run never exceeds it. Leave empty for no limit."),
    )
    decomposition = forms.ChoiceField(
        label=_("Split solutions into steps"),
        choices=ImportForm.base_fields["decomposition"].choices,  # type: ignore[attr-defined]
    )
    thinking = forms.ChoiceField(
        label=ImportForm.base_fields["thinking"].label,
        choices=ImportForm.base_fields["thinking"].choices,  # type: ignore[attr-defined]
    )
    prompt = _field(
        "prompt",
        label=_("Prompt"),
        widget=forms.Textarea({"rows": 3}),
        help_text=_("Write {problem} where the problem belongs. Leave empty to use the policy model’s default prompt."),
    )
    opens_generation = forms.BooleanField(
        label=_("Open the next generation when the new solutions are scored"), required=False
    )

    def __init__(self, *args: Any, domains: list[str], **named: Any) -> None:
        super().__init__(*args, **named)
        offered = [ALL, *((domain, domain) for domain in domains)]
        self.fields["domain"].choices = offered  # type: ignore[attr-defined]

    def plan(self) -> SamplingPlan:
        """The settings of a valid form."""
        return SamplingPlan(**self.cleaned_data)


COLUMNS = [
    Column("policy", _("Policy"), "endpoint", sort=True, heading=True),
    Column("model", _("Model"), sort=True),
    State("state", _("State"), sort=True, choices=SamplingRun.State.choices),
    When("started", _("Started"), "created_at", sort=True),
    Number("problems", _("Problems"), sort=True),
    Number("accepted", _("New solutions"), sort=True),
    Number("right", _("Right"), sort=True),
    Number("wrong", _("Wrong"), sort=True),
]
ERROR_COLUMNS = [
    Opening("problem", _("Problem"), "problem__text"),
    Choice("state", _("State"), sort=True, choices=SampledProblem.State.choices),
    Column("error", _("Error"), sort=True, write=in_words),
    Number("position", _("Position"), lambda s: s.position + 1, sort="position"),
]


@project_page(MANAGER)
def samplings(request: HttpRequest, member: Membership) -> HttpResponseBase:
    form = _form(request, member)
    if request.method == "POST" and form.is_valid():
        run = attempt(request, "", start_sampling, project=member.project, plan=form.plan())
        if run:
            return redirect("sampling-run", run.pk)
    listing = Listing(request, member.project.sampling_runs.all(), COLUMNS, sort="-started")
    context = {"form": form, "endpoints": endpoint_names()}
    return respond(request, "labelling_ui/sampling.html", listing, "samplings", context)


@project_action(MANAGER)
def preview(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Show samples of the first problems with the form's settings."""
    form = _form(request, member)
    context: dict[str, Any] = {"form": form}
    if form.is_valid():
        try:
            context["previewed"] = preview_sampling(by=signed_in(request), project=member.project, plan=form.plan())
        except DomainError as error:
            context["error"] = in_words(error.message)
    return render(request, "labelling_ui/sampling_preview.html", context)


@without_slug(SamplingRun)
@project_page(MANAGER)
def sampling_run(request: HttpRequest, member: Membership, job_id: int) -> HttpResponseBase:
    run = get_object_or_404(SamplingRun.objects.select_related("generation"), pk=job_id, project=member.project)
    context = {"job": run, "resumes": can_resume(run), "progress": progress_of(run)}
    errors = run.sampled_problems.exclude(error="").select_related("problem")
    listing = Listing(request, errors, ERROR_COLUMNS, sort="position")
    return respond(request, "labelling_ui/sampling_run.html", listing, f"sampling-{run.pk}-errors", context)


def _form(request: HttpRequest, member: Membership) -> SamplingForm:
    return SamplingForm(
        request.POST if request.method == "POST" else None, domains=list(filter(None, domains_of(member.project)))
    )
