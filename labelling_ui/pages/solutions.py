"""The list of solutions, and the page of one with all labels of each step."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _

from annotation.core.membership.members import domains_of
from annotation.labels.list_filters import COMPARED, CONTRAST, SolutionFilter
from annotation.loop.pool.scored_solutions import first_labels, solutions_with_scores
from annotation.loop.registry import champion_of
from annotation.models import OPEN, Annotation, LabelSource, Membership, PoolScore, Project, Solution, choices
from annotation.serving import reviewing
from labelling_ui import words
from labelling_ui.numbers import decimal
from labelling_ui.pages.access import STAFF, attempt, project_action, project_page
from labelling_ui.pages.columns import Choice, Column, Number, Opening
from labelling_ui.pages.dataset_filters import policies_of
from labelling_ui.pages.gold import gold_of, may_be_gold
from labelling_ui.pages.listing import Listing, SharedFilters, respond
from labelling_ui.pages.people import people_of
from labelling_ui.templatetags.terms import term


class SolutionFilters(SharedFilters):
    kind = SolutionFilter
    search = forms.CharField(
        label=_("Search problem and steps"),
        help_text=_("Words match from their beginning. Put a phrase in quotation marks."),
        widget=forms.TextInput({"type": "search"}),
    )
    split = forms.ChoiceField(choices=[words.ALL, *choices.SPLITS], label=_("Split"))
    annotated = forms.ChoiceField(
        choices=[words.ALL, ("yes", _("labelled")), ("no", _("not labelled"))],
        label=_("Labels"),
    )
    policy = forms.CharField(
        label=_("Policy model"), widget=forms.TextInput({"type": "search", "placeholder": _("or run")})
    )
    visibility = forms.ChoiceField(
        choices=[words.ALL, *choices.VISIBILITIES, ("unknown", _("not known"))],
        label=_("Reasoning shown"),
    )
    outcome = forms.ChoiceField(choices=[words.ALL, *words.OUTCOMES], label=_("Final answer"))
    generation = forms.IntegerField(min_value=0, label=_("Generation"))
    disagreement = forms.BooleanField(label=_("people disagree"))
    one = forms.ModelChoiceField(LabelSource.objects.none(), widget=forms.HiddenInput)
    other = forms.ModelChoiceField(LabelSource.objects.none(), widget=forms.HiddenInput)

    def __init__(self, data: QueryDict, project: Project) -> None:
        super().__init__(data, project, one=project.label_sources.all(), other=project.label_sources.all())

    def chosen(self) -> dict[str, Any]:
        known = super().chosen()
        without = set() if known.keys() >= {*CONTRAST} else {*CONTRAST}
        without |= set() if "between" in known else {*COMPARED}
        return {name: value for name, value in known.items() if name not in without}


COLUMNS = [
    Column("solution", _("Solution"), "pk", sort=True, link="solution", heading=True),
    Opening("problem", _("Problem"), "problem__text"),
    Column("domain", _("Domain"), "problem__domain", sort=True),
    Choice("split", _("Split"), sort=True, choices=choices.SPLITS, term="split"),
    Column("policy", _("Policy model"), "generator", sort=True, term="policy_model"),
    Choice(
        "answer", _("Final answer"), "outcome", sort="final_answer_correct", choices=words.OUTCOMES, term="final_answer"
    ),
    Number("labels", _("Labels"), sort=True),
    Number("score", _("Score"), sort="scored__score", write=partial(decimal, digits=2), term="score"),
    Number("gain", _("Gain, nats"), sort="scored__gain", write=partial(decimal, digits=3), term="gain"),
]


@project_page(*STAFF)
def solutions(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    champion = champion_of(project)
    rows = solutions_with_scores(project, champion)
    filters = SolutionFilters(request.GET, project)
    counted = {"labels": (first_labels(project), "solution")}
    values: dict[str, Callable[[], Sequence[Any]]] = {
        "problem__domain": partial(domains_of, project),
        "generator": partial(policies_of, project),
        "split": lambda: sorted(name for name, _label in choices.SPLITS),
        "final_answer_correct": lambda: [False, True],
    }
    listing = Listing(request, rows, COLUMNS, sort="-solution", filters=filters, counted=counted, values=values)
    return respond(request, "labelling_ui/solutions.html", listing, "solutions", {"champion": champion})


@project_page(*STAFF)
def solution(request: HttpRequest, member: Membership, solution_id: int) -> HttpResponse:
    solution = _find(member, solution_id)
    labels = list(
        solution.annotations.select_related("annotator__user", "source")
        .prefetch_related("ratings")
        .order_by("submitted_at", "pk")
    )
    champion = champion_of(member.project)
    score = PoolScore.objects.filter(solution=solution, model_version=champion).first()
    reasons = reviewing.find_review(champion, reviewing.text_of_solution(solution)) if score and champion else None
    return render(
        request,
        "labelling_ui/solution.html",
        {
            "solution": solution,
            "labels": labels,
            "steps": _steps(solution, labels, score, reasons),
            "score": score,
            "review": reasons,
            "gold": gold_of(member.project, solution.pk),
            "gold_from": [label for label in labels if may_be_gold(label)],
            "facts": _facts(solution),
            "waits": solution.queue_items.filter(OPEN).select_related("assigned_to__user").first(),
            "people": people_of(member.project),
        },
    )


@project_action(*STAFF)
def review(request: HttpRequest, member: Membership, solution_id: int) -> HttpResponseBase:
    """Explain the champion's scores of the solution."""
    solution, champion = _find(member, solution_id), champion_of(member.project)
    if champion is not None:
        text = reviewing.text_of_solution(solution)
        attempt(request, "", reviewing.request_review, version=champion, text=text)
    return redirect("solution", member.project.slug, solution_id)


def _find(member: Membership, solution_id: int) -> Solution:
    return get_object_or_404(member.project.solutions.select_related("problem"), pk=solution_id)


def _facts(solution: Solution) -> list[tuple[Any, Any]]:
    """The known origin of the solution."""
    made = solution.origin
    known = [
        (term("policy_model"), made.policy or solution.generator),
        (_("Temperature"), made.temperature),
        (term("seed"), made.seed),
        (_("Reasoning shown"), dict(choices.VISIBILITIES).get(made.visibility or "")),
        (_("Run"), made.run),
        *((name, value) for name, value in sorted(made.settings.items())),
        (_("Prompt"), made.prompt),
        (_("Tools and scaffold"), made.scaffold),
    ]
    return [(name, value) for name, value in known if value not in (None, "")]


def _steps(
    solution: Solution, labels: list[Annotation], score: PoolScore | None, review: reviewing.Review | None
) -> list[dict[str, Any]]:
    """Each completion with its rating in each label (None if unrated), the model's mean score and the reasons."""
    ratings = {(label.pk, rating.step_id): rating for label in labels for rating in label.ratings.all()}
    means = score.mean if score else []
    reasons = {reason.position: reason for reason in review.reasons} if review else {}
    return [
        {
            "step": step,
            "words": [(label, ratings.get((label.pk, step.pk))) for label in labels],
            "mean": means[step.position] if not step.alternative and step.position < len(means) else None,
            "reason": None if step.alternative else reasons.get(step.position),
        }
        for step in solution.steps.all()
    ]
