"""How far each annotator, and each source of imported labels, can be trusted in a project."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

from annotation.models import Project, StepRating
from annotation.quality.judging import Told, latest_told, name_of
from annotation.quality.reliability import BAD, Vote, estimate


@dataclass(frozen=True)
class Trust:
    """`who` as in `judging.name_of`. The shares of probably bad steps that are called bad (`finds`), and of the
    others (`invents`); `informedness` is the difference. `votes` counts words on shared steps in so many `labels`."""

    who: str
    labels: int
    votes: int
    finds: float
    invents: float
    informedness: float


def trust_by_person(project: Project) -> dict[str, Trust]:
    """From the latest labels that count, of annotators and not of machines; empty where nobody shares a step."""
    shared = _shared([told for told in latest_told(project) if not told.machine])
    rows = StepRating.objects.filter(annotation__in=[told.label for told in shared], state=StepRating.State.RATED)
    votes: list[Vote] = []
    settled: dict[Hashable, int] = {}
    decides = {told.label for told in shared if told.adjudicates}
    for step, annotator, source, rating, label in rows.values_list(
        "step", "annotation__annotator", "annotation__source", "rating", "annotation"
    ):
        if label in decides:
            settled[step] = int(rating or 0)
        else:
            votes.append(Vote(step, name_of(annotator, source), int(rating or 0)))
    found = estimate(votes, settled=settled)
    if found is None:
        return {}
    labels = Counter(told.who for told in shared)
    return {
        who: Trust(
            who=who,
            labels=labels[who],
            votes=found.votes[who],
            finds=float(found.of(who)[BAD, BAD]),
            invents=float(found.of(who)[BAD, BAD]) - found.informedness(who),
            informedness=found.informedness(who),
        )
        for who in found.votes
    }


def _shared(told: list[Told]) -> list[Told]:
    words = Counter(one.solution for one in told)
    return [one for one in told if words[one.solution] > 1]
