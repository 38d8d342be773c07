"""The analysis of each annotator's work, from the project's latest labels."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import median
from typing import Any

from django.db.models import Count, F, Q, Sum, Value
from django.db.models.functions import Length, Replace

from annotation.labels.annotators.batch_watch import material_of
from annotation.labels.annotators.biases import Bias, Compared, biases_of
from annotation.labels.annotators.copies import Likeness, likenesses_of
from annotation.labels.annotators.guessing import Speed, speeds_of
from annotation.labels.annotators.judged_labels import FirstErrorLabel, Reference, name_of, references_of
from annotation.labels.annotators.patterns import PatternShare, pattern_shares
from annotation.labels.annotators.suspicions import Material
from annotation.labels.annotators.valid_solutions import (
    Rejections,
    rejections_of,
    unconventional_solutions,
    words_of,
)
from annotation.labels.annotators.weeks import Week, weeks_of
from annotation.models import Annotation, Membership, Project, Step, StepRating
from annotation.work.gold.gold_accuracy import Share, share_of
from prm.vocabulary import NO_ERROR

GENERATORS = 8  # the most frequent ones are features


@dataclass(frozen=True)
class Style:
    """The features of a solution's text: steps, backslashes per 100 characters (of LaTeX), and words per step."""

    steps: int
    formulas: float
    words: float


@dataclass(frozen=True)
class Context:
    """What is known of a label's solution and of the hint, if one was drawn (`hinted` is None if not)."""

    problem: int
    generator: str
    answer_right: bool | None
    hinted: bool | None
    verdict: int | None


class Analysis:
    """The figures of all people, computed when they are first read. `who` is `judged_labels.name_of` of a member."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.material: Material = material_of(project)
        self.labels = self.material.labels
        self.references: Mapping[int, Reference] = references_of(self.labels)

    @cached_property
    def speeds(self) -> dict[str, Speed]:
        return speeds_of(self.labels, self.references, self.material.timed)

    @cached_property
    def biases(self) -> list[Bias]:
        return biases_of(self.compared)

    @cached_property
    def compared(self) -> list[Compared]:
        """The people's labels that have a reference."""
        contexts, features = self._contexts, self._features
        return [
            _compared(label, self.references[label.label], contexts[label.label], features[label.label])
            for label in self.labels
            if label.label in contexts and label.label in self.references
        ]

    @cached_property
    def rejections(self) -> dict[str, Rejections]:
        """The labels of each person on valid solutions."""
        by_person: dict[str, list[tuple[int, bool]]] = defaultdict(list)
        for label in self.labels:
            if label.label in self._valid:
                by_person[label.who].append((label.solution, label.first_error != NO_ERROR))
        return {who: rejections_of(own, self._unconventional) for who, own in by_person.items()}

    @cached_property
    def accepted(self) -> dict[str, Share]:
        """The share of each person's ratings that one key gave together with others."""
        rated = StepRating.objects.filter(annotation__in=list(self._contexts), state="rated").order_by()
        rows = rated.values_list("annotation__annotator").annotate(
            accepted=Count("pk", filter=Q(accepted=True)), of=Count("pk")
        )
        return {name_of(annotator, None): share_of(accepted, of) for annotator, accepted, of in rows}

    @cached_property
    def likenesses(self) -> list[Likeness]:
        return likenesses_of(self.labels, self.material.comments)

    @cached_property
    def patterns(self) -> dict[str, list[PatternShare]]:
        return pattern_shares(self.labels, self.references)

    def weeks(self, who: str) -> list[Week]:
        step_ms = {one.label: one.step_ms for one in self.material.timed}
        return weeks_of(who, self.labels, self.references, step_ms, self.project.policies.rounds.zone)

    def rows(self, who: str, figure: str) -> set[int]:
        """The ids of the labels behind one of `FIGURES` of a person."""
        return {label.label for label in self.labels if label.who == who and FIGURES[figure](self, label)}

    def is_wrong(self, label: FirstErrorLabel) -> bool:
        reference = self.references.get(label.label)
        return reference is not None and reference.first_error != label.first_error

    def has(self, label: FirstErrorLabel, feature: str, value: bool) -> bool:
        """Whether the label has a reference, and its solution the feature (or lacks it, for False)."""
        return label.label in self.references and self._features.get(label.label, {}).get(feature) is value

    def is_valid(self, label: FirstErrorLabel, *, unconventional: bool) -> bool:
        return label.label in self._valid and self._unconventional.get(label.solution) is unconventional

    @cached_property
    def unread(self) -> set[int]:
        return {one.label for one in self.material.timed if one.unread}

    @cached_property
    def _contexts(self) -> dict[int, Context]:
        people = [label.label for label in self.labels if not label.machine and not label.adjudicates]
        rows = Annotation.objects.filter(pk__in=people).values_list(
            "pk",
            "solution__problem",
            "solution__generator",
            "solution__final_answer_correct",
            "lease__hint__shown",
            "lease__hint__verdict",
        )
        return {
            pk: Context(problem, generator, right, shown, verdict)
            for pk, problem, generator, right, shown, verdict in rows
        }

    @cached_property
    def _features(self) -> dict[int, dict[str, bool]]:
        """The features of each label's solution: above the median of the solutions, and the generator if known."""
        solutions = {label.label: label.solution for label in self.labels if label.label in self._contexts}
        styles = _styles(set(solutions.values()))
        limits = (
            {name: median(values(style) for style in styles.values()) for name, values in STYLES.items()}
            if styles
            else {}
        )
        counts: dict[str, int] = defaultdict(int)
        for context in self._contexts.values():
            counts[context.generator] += 1
        frequent = sorted((name for name in counts if name), key=lambda name: (-counts[name], name))[:GENERATORS]
        if len(counts) == 2 and len(frequent) == 2:
            frequent.pop()  # the other one is the same comparison
        features = {}
        for label, solution in solutions.items():
            style, generator = styles.get(solution), self._contexts[label].generator
            own = {name: STYLES[name](style) > limit for name, limit in limits.items()} if style else {}
            own |= {f"generator:{name}": generator == name for name in frequent if generator}
            features[label] = own
        return features

    @cached_property
    def _valid(self) -> set[int]:
        """The labels on valid solutions: the final answer is right, and the reference has no error."""
        return {
            label
            for label, context in self._contexts.items()
            if context.answer_right and label in self.references and self.references[label].first_error == NO_ERROR
        }

    @cached_property
    def _unconventional(self) -> dict[int, bool]:
        valid = frozenset(label.solution for label in self.labels if label.label in self._valid)
        problems = {self._contexts[label].problem for label in self._valid}
        texts: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        steps = Step.objects.filter(
            solution__problem__in=problems, solution__final_answer_correct=True, alternative=0, added=False
        )
        for problem, solution, text in steps.values_list("solution__problem", "solution", "text"):
            texts[problem][solution].append(text)
        words = {
            problem: {solution: words_of(" ".join(some)) for solution, some in solutions.items()}
            for problem, solutions in texts.items()
        }
        return unconventional_solutions(words, valid)


STYLES: dict[str, Callable[[Style], float]] = {
    "long": lambda style: style.steps,
    "formulas": lambda style: style.formulas,
    "wordy": lambda style: style.words,
}
# The rows behind each figure of a person.
FIGURES: dict[str, Callable[[Analysis, FirstErrorLabel], bool]] = {
    "compared": lambda analysis, label: label.label in analysis.references,
    "wrong": lambda analysis, label: analysis.is_wrong(label),
    "unread": lambda analysis, label: label.label in analysis.unread,
    "unconventional": lambda analysis, label: analysis.is_valid(label, unconventional=True),
    "conventional": lambda analysis, label: analysis.is_valid(label, unconventional=False),
}
for _name in STYLES:
    FIGURES[_name] = partial(Analysis.has, feature=_name, value=True)
    FIGURES[f"not_{_name}"] = partial(Analysis.has, feature=_name, value=False)


def who_is(member: Membership) -> str:
    return name_of(member.pk, None)


def _compared(label: FirstErrorLabel, reference: Reference, context: Context, features: Mapping[str, bool]) -> Compared:
    reports, has = label.first_error != NO_ERROR, reference.first_error != NO_ERROR
    drawn = context.hinted is not None and context.verdict is not None
    return Compared(
        label=label.label,
        who=label.who,
        excess=int(reports) - int(has),
        shift=label.first_error - reference.first_error if reports and has else None,
        hinted=bool(context.hinted),
        follows=label.first_error == context.verdict if drawn else None,
        features=features,
    )


def _styles(solutions: set[int]) -> dict[int, Style]:
    text = F("text")
    rows: Any = (
        Step.objects.filter(solution__in=solutions, alternative=0)
        .order_by()
        .values_list("solution")
        .annotate(
            steps=Count("pk"),
            characters=Sum(Length(text)),
            unmarked=Sum(Length(Replace(text, Value("\\")))),
            unspaced=Sum(Length(Replace(text, Value(" ")))),
        )
    )
    return {
        solution: Style(
            steps=steps,
            formulas=100 * (characters - unmarked) / max(characters, 1),
            words=(characters - unspaced) / steps + 1,
        )
        for solution, steps, characters, unmarked, unspaced in rows
    }
