"""All labels of one solution side by side, for the reviewer who decides."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Prefetch

from annotation.models import HIDDEN_LANES, Annotation, SentBack, Solution, Step, StepRating
from prm.vocabulary import MACHINES

Word = tuple[str, int | None]  # the state of a rating, and the rating


@dataclass(frozen=True)
class CaseRow:
    """One completion with each label's rating of it, None for labels without one.

    `differs` if two labels give different ratings or error types; `agreed` is the rating they share. `on_path` marks
    the completion that most labels chose at the position. `decided` is the adjudication's rating.
    """

    step: Step
    words: list[StepRating | None]
    differs: bool
    agreed: Word | None
    on_path: bool
    decided: StepRating | None = None


@dataclass(frozen=True)
class Case:
    """A solution to review: people's latest labels, oldest first, adjudications last.

    `newest` is the highest id of all its labels, `first_difference` the index of the first row that differs.
    """

    solution: Solution
    labels: Sequence[Annotation]
    rows: list[CaseRow]
    newest: int
    decided: Annotation | None

    @property
    def first_difference(self) -> int | None:
        return next((n for n, row in enumerate(self.rows) if row.differs), None)

    @property
    def path(self) -> list[Step]:
        return [row.step for row in self.rows if row.on_path]


def case_of(solution: Solution) -> Case:
    """The case of a solution, without answers to gold and machines' labels."""
    requests = Prefetch("sent_back", SentBack.objects.filter(state=SentBack.State.OPEN), "open_requests")
    labels_of_all = solution.annotations.select_related("annotator__user", "source")
    all_labels = list(labels_of_all.prefetch_related("ratings__step", "path", requests).order_by("pk"))
    last = {(label.source_id, label.annotator_id): label for label in all_labels}
    shown = [label for label in last.values() if label.source.kind not in MACHINES and label.lane not in HIDDEN_LANES]
    labels = sorted(shown, key=lambda label: (label.adjudicates, label.pk))
    decided = next((label for label in reversed(labels) if label.adjudicates), None)
    return Case(
        solution=solution,
        labels=labels,
        rows=_rows(list(solution.steps.prefetch_related("critiques")), labels),
        newest=max((label.pk for label in all_labels), default=0),
        decided=decided,
    )


def _rows(steps: Sequence[Step], labels: Sequence[Annotation]) -> list[CaseRow]:
    ratings = {(label.pk, rating.step_id): rating for label in labels for rating in label.ratings.all()}
    path = _path(steps, labels)
    rows = []
    for step in steps:
        words = [ratings.get((label.pk, step.pk)) for label in labels]
        read = [(word.state, word.rating) for word in words if word and word.state != "not_reached"]
        alike = len({*read}) == 1
        types = {word.error_type for word in words if word and word.error_type}
        agreed = read[0] if alike and len(read) == len(labels) else None
        decisions = [word for label, word in zip(labels, words, strict=True) if label.adjudicates]
        differs = len({*read}) > 1 or len(types) > 1
        rows.append(CaseRow(step, words, differs, agreed, step.pk in path, decisions[-1] if decisions else None))
    return rows


def _path(steps: Sequence[Step], labels: Sequence[Annotation]) -> set[int]:
    """The completion at each position that most labels chose, else the sampled one."""
    chosen = [place.chosen_id for label in labels for place in label.path.all()]
    best: dict[int, tuple[int, int, int]] = {}
    for step in steps:
        rank = (chosen.count(step.pk), -step.alternative, step.pk)
        best[step.position] = max(best.get(step.position, rank), rank)
    return {pk for _, _, pk in best.values()}
