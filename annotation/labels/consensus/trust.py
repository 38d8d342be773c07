"""The reliability of each annotator, and of each source of imported labels, in a project."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from annotation.labels.annotators.judged_labels import FirstErrorLabel, latest_labels, name_of
from annotation.labels.consensus.reliability import Reliability, estimate
from annotation.labels.quality.anchoring import Gap
from annotation.models import Project, StepRating
from prm.consensus import Vote, Words

ONE_STEP = 0.5  # expected number of steps from which there is more likely one than none


@dataclass(frozen=True)
class Trust:
    """`who` as in `judged_labels.name_of`. `informedness` is what the consensus uses: shrunk to the average person if
    there are few shared steps. The rest comes from the person's own votes: the shares of probably bad steps rated bad
    (`finds`) and of others rated bad (`invents`), None without such a step; `measured` is their difference with its
    95 % interval. `votes` counts votes on shared steps, `labels` the labels that they are in."""

    who: str
    labels: int
    votes: int
    finds: float | None
    invents: float | None
    measured: Gap
    informedness: float


def trust_by_person(project: Project) -> dict[str, Trust]:
    """The trust in each person by `who`, from latest labels without machines'; empty if no step is shared."""
    human = [label for label in latest_labels(project) if not label.machine]
    shared = _shared(human)
    rated = StepRating.objects.filter(state="rated")
    rows = rated.filter(annotation__in=[label.label for label in shared])
    votes: list[Vote] = []
    settled: dict[Hashable, int] = {}
    decides = {label.label for label in shared if label.adjudicates}
    for step, annotator, source, rating, annotation in rows.values_list(
        "step", "annotation__annotator", "annotation__source", "rating", "annotation"
    ):
        if annotation in decides:
            settled[step] = int(rating or 0)
        else:
            votes.append(Vote(step, name_of(annotator, source), int(rating or 0)))
    once = {label.label for label in human} - {label.label for label in shared}
    reliability = estimate(votes, settled=settled, alone=_words(rated.filter(annotation__in=once)))
    if reliability is None:
        return {}
    labels = Counter(label.who for label in shared)
    return {person: _trust(person, labels[person], reliability) for person in reliability.votes}


def _trust(person: str, labels: int, reliability: Reliability) -> Trust:
    (bad, of_bad), (others, of_others) = reliability.bad_and_others(person)
    return Trust(
        who=person,
        labels=labels,
        votes=reliability.votes[person],
        finds=bad / of_bad if of_bad >= ONE_STEP else None,
        invents=others / of_others if of_others >= ONE_STEP else None,
        measured=reliability.measured(person),
        informedness=reliability.informedness(person),
    )


def _words(ratings: QuerySet[StepRating]) -> Words:
    rows = ratings.order_by().values_list("annotation__annotator", "annotation__source", "rating")
    counts: Words = Counter()
    for annotator, source, rating, n in rows.annotate(n=Count("pk")):
        counts[name_of(annotator, source), int(rating or 0)] += n
    return counts


def _shared(labels: list[FirstErrorLabel]) -> list[FirstErrorLabel]:
    label_counts = Counter(label.solution for label in labels)
    return [label for label in labels if label_counts[label.solution] > 1]
