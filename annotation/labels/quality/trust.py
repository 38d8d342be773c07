"""How far each annotator, and each source of imported labels, can be trusted in a project."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from annotation.labels.quality.anchoring import Gap
from annotation.labels.quality.reliability import Reliability, estimate
from annotation.labels.quality.source_verdicts import Told, latest_told, name_of
from annotation.models import Project, StepRating
from prm.consensus import Vote, Words

ONE_STEP = 0.5  # expected steps that are more likely one than none


@dataclass(frozen=True)
class Trust:
    """`who` as in `judging.name_of`. `informedness` is what the consensus uses: drawn to the average person where there
    are few shared steps. The rest is what the person's own words show: the shares of probably bad steps called bad
    (`finds`), and of others (`invents`), None where there is not one such step; `measured` is their difference with its
    95 % interval. `votes` counts words on shared steps in so many `labels`."""

    who: str
    labels: int
    votes: int
    finds: float | None
    invents: float | None
    measured: Gap
    informedness: float


def trust_by_person(project: Project) -> dict[str, Trust]:
    """From the latest labels that count, of annotators and not of machines; empty where nobody shares a step."""
    told = [one for one in latest_told(project) if not one.machine]
    shared = _shared(told)
    rated = StepRating.objects.filter(state="rated")
    rows = rated.filter(annotation__in=[one.label for one in shared])
    votes: list[Vote] = []
    settled: dict[Hashable, int] = {}
    decides = {one.label for one in shared if one.adjudicates}
    for step, annotator, source, rating, label in rows.values_list(
        "step", "annotation__annotator", "annotation__source", "rating", "annotation"
    ):
        if label in decides:
            settled[step] = int(rating or 0)
        else:
            votes.append(Vote(step, name_of(annotator, source), int(rating or 0)))
    once = {one.label for one in told} - {one.label for one in shared}
    found = estimate(votes, settled=settled, alone=_words(rated.filter(annotation__in=once)))
    if found is None:
        return {}
    labels = Counter(one.who for one in shared)
    return {who: _trust(who, labels[who], found) for who in found.votes}


def _trust(who: str, labels: int, found: Reliability) -> Trust:
    (bad, of_bad), (others, of_others) = found.bad_and_others(who)
    return Trust(
        who=who,
        labels=labels,
        votes=found.votes[who],
        finds=bad / of_bad if of_bad >= ONE_STEP else None,
        invents=others / of_others if of_others >= ONE_STEP else None,
        measured=found.measured(who),
        informedness=found.informedness(who),
    )


def _words(ratings: QuerySet[StepRating]) -> Words:
    rows = ratings.order_by().values_list("annotation__annotator", "annotation__source", "rating")
    words: Words = Counter()
    for annotator, source, rating, n in rows.annotate(n=Count("pk")):
        words[name_of(annotator, source), int(rating or 0)] += n
    return words


def _shared(told: list[Told]) -> list[Told]:
    words = Counter(one.solution for one in told)
    return [one for one in told if words[one.solution] > 1]
