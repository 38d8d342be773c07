"""Labels by a judge and Monte Carlo estimates: the form with its estimate, a preview, and the page of each run."""

from functools import partial
from typing import Any, cast

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.core.errors import DomainError
from annotation.core.lifecycle import progress_of
from annotation.core.wording import in_words
from annotation.labels.list_filters import SolutionFilter
from annotation.loop.gateway.policies import endpoint_names
from annotation.loop.judging.judge_preview import preview_judging
from annotation.loop.judging.judging_runs import JudgingPlan, estimate_judging, start_judging
from annotation.loop.judging.templates import TEMPLATES
from annotation.loop.resuming import can_resume
from annotation.models import JudgeCall, JudgedSolution, JudgingRun, Membership
from labelling_ui.numbers import decimal
from labelling_ui.pages.access import MANAGER, attempt, project_action, project_page, signed_in
from labelling_ui.pages.columns import Choice, Column, Number, State, When
from labelling_ui.pages.listing import Filters, Listing, respond
from labelling_ui.pages.sampling import endpoint_choices
from labelling_ui.pages.solutions import SolutionFilters
from labelling_ui.pages.struct_fields import struct_field
from labelling_ui.templatetags.figures import opening

Method = JudgingRun.Method
TEMPLATE_NAMES = {
    "first_error": _("the first error"),
    "every_step": _("every step"),
    "critic": _("every step, with reasons for errors"),
}
OF_METHOD = {
    Method.JUDGE: ("template", "mode"),
    Method.MONTE_CARLO: ("rollouts", "search", "threshold"),
}
LEFT_OUT = {
    "holdout": _("holdout"),
    "calibration": _("calibration"),
    "gold": _("gold and practice"),
    "no_reference": _("without a reference answer"),
    "labelled": _("labelled this way already"),
}


_field = partial(struct_field, JudgingPlan)


class JudgingForm(forms.Form):
    endpoint = forms.ChoiceField(label=_("Model"), choices=endpoint_choices)
    template = forms.ChoiceField(label=_("What the judge decides"), choices=[*TEMPLATE_NAMES.items()])
    mode = forms.ChoiceField(
        label=_("Solutions"),
        choices=[(JudgingRun.Mode.BATCH, _("those chosen here")), (JudgingRun.Mode.QUEUE, _("those of the queue"))],
    )
    rollouts = _field("rollouts", label=_("Rollouts per prefix"))
    search = _field("search", label=_("Prefixes"), choices=JudgingRun.Search.choices)
    threshold = _field("threshold", label=_("Good above this share"), initial=0)
    max_tokens = _field("max_tokens", label=_("Token limit per reply"))
    temperature = _field(
        "temperature", label=_("Temperature"), required=True, widget=forms.NumberInput({"step": "0.1"})
    )
    token_budget = _field("token_budget", label=_("Token budget"), help_text=_("Includes prompts; 0 is no limit."))
    cost_budget = _field(
        "cost_budget",
        label=_("Budget in money"),
        initial=0,
        help_text=_("By the prices of the operator; 0 is no limit."),
    )
    prompt = _field("prompt", label=_("Prompt"), widget=forms.Textarea({"rows": 4}))

    def __init__(self, *args: Any, method: JudgingRun.Method, **named: Any) -> None:
        super().__init__(*args, **named)
        self.method = method
        is_judge = method == Method.JUDGE
        for other in OF_METHOD[Method.MONTE_CARLO if is_judge else Method.JUDGE]:
            del self.fields[other]
        self.fields["temperature"].initial = 0 if is_judge else 0.8
        self.fields["prompt"].help_text = (
            _("Leave empty for the template’s text. Else write {problem} and {steps} where they belong.")
            if is_judge
            else _("Leave empty for the model’s default prompt. Else write {problem} where the problem belongs.")
        )
        if is_judge:  # only its name tells a judge from a policy, such as the demo's two
            judges = (name for name, shown in endpoint_choices() if "judge" in shown.lower())
            self.fields["endpoint"].initial = next(judges, None)

    def plan(self, chosen: SolutionFilter) -> JudgingPlan:
        """The settings of a valid form."""
        return JudgingPlan(method=self.method, chosen=chosen, **self.cleaned_data)


COLUMNS = [
    Column("model", _("Model"), sort=True, heading=True),
    Choice("method", _("Method"), sort=True, choices=Method.choices),
    State("state", _("State"), sort=True, choices=JudgingRun.State.choices),
    When("started", _("Started"), "created_at", sort=True),
    Number("labelled", _("Labels"), sort=True, term="label"),
    Number("failed", _("Failed"), "failed_solutions", sort=True),
    Number("tokens", _("Tokens"), "tokens"),
    Number("cost", _("Cost"), sort=True, write=partial(decimal, digits=4)),
]
CALL_COLUMNS = [
    Column("solution", _("Solution"), "judged__solution_id", sort=True, link="solution", heading=True),
    State(
        "result",
        pgettext_lazy("noun", "Label"),
        "judged__state",
        sort=True,
        choices=JudgedSolution.State.choices,
        filtered=True,
    ),
    Number("prefix", _("Steps shown"), sort=True),
    State("state", _("Call"), sort=True, choices=JudgeCall.State.choices, filtered=True),
    Number("tokens", _("Tokens"), "tokens"),
    Number("cost", _("Cost"), sort=True, write=partial(decimal, digits=6)),
    Number("right", _("Right rollouts"), sort=True),
    Column("reply", _("Reply"), lambda call: "\n\n".join(call.texts), write=opening),
    Column("error", _("Error"), lambda call: in_words(call.error or call.judged.error)),
]


@project_page(MANAGER)
def judgings(request: HttpRequest, member: Membership) -> HttpResponseBase:
    form = _form(request)
    filters = SolutionFilters(request.GET, member.project)
    if request.method == "POST" and form.is_valid():
        run = attempt(request, "", start_judging, project=member.project, plan=form.plan(_chosen(filters)))
        if run:
            return redirect("judging-run", member.project.slug, run.pk)
    listing = Listing(request, member.project.judging_runs.all(), COLUMNS, sort="-started")
    context = {
        "form": form,
        "endpoints": endpoint_names(),
        "is_judge": form.method == Method.JUDGE,
        "filters": filters,
        "texts": {name: template.text for name, template in TEMPLATES.items()},
    }
    return respond(request, "labelling_ui/judging.html", listing, "judgings", context)


@project_action(MANAGER)
def preview(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Show the estimate for the form's settings and, if `try` is set, the reply for one solution."""
    form = _form(request)
    context: dict[str, Any] = {"form": form, "reasons": LEFT_OUT, "currency": member.project.policies.costs.currency}
    if form.is_valid():
        plan = form.plan(_chosen(SolutionFilters(request.GET, member.project)))
        asked: dict[str, Any] = {"by": signed_in(request), "project": member.project, "plan": plan}
        try:
            if plan.mode == JudgingRun.Mode.BATCH:
                context["estimate"] = estimate_judging(**asked)
            if "try" in request.POST:
                context["previewed"] = preview_judging(**asked)
        except DomainError as error:
            context["error"] = in_words(error.message)
    return render(request, "labelling_ui/judging_preview.html", context)


@project_page(MANAGER)
def judging_run(request: HttpRequest, member: Membership, run_id: int) -> HttpResponseBase:
    run = get_object_or_404(JudgingRun.objects.select_related("annotator__user"), pk=run_id, project=member.project)
    states: QuerySet[JudgeCall] = JudgeCall.objects.filter(judged__run=run)
    context = {
        "job": run,
        "priced": run.prompt_price or run.completion_price,
        "resumes": can_resume(run),
        "progress": progress_of(run),
        "lost": states.filter(state=JudgeCall.State.LOST).count(),
        "reasons": LEFT_OUT,
        "template": TEMPLATE_NAMES.get(run.template),
    }
    calls = states.select_related("judged")
    filters = Filters(request.GET, CALL_COLUMNS)
    listing = Listing(request, calls, CALL_COLUMNS, sort="solution", filters=filters)
    return respond(request, "labelling_ui/judging_run.html", listing, f"judging-{run.pk}-calls", context)


def _form(request: HttpRequest) -> JudgingForm:
    method = Method.MONTE_CARLO if request.GET.get("method") == Method.MONTE_CARLO else Method.JUDGE
    return JudgingForm(request.POST if request.method == "POST" else None, method=method)


def _chosen(filters: SolutionFilters) -> SolutionFilter:
    return cast(SolutionFilter, filters.shared())
