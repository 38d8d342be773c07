"""The reliability of each annotator, and of each source of imported labels, in a project."""

from collections import Counter
from dataclasses import dataclass

from annotation.labels.annotators.judged_labels import latest_labels, name_of
from annotation.labels.consensus.reliability import estimate
from annotation.models import Project, StepRating
from prm.consensus import Evidence, Reliability, Step, Vote


@dataclass(frozen=True)
class Trust:
    """`who` as in `judged_labels.name_of`; `labels` are theirs on solutions that somebody else labelled too."""

    who: str
    labels: int
    reliability: Reliability


def trust_by_person(project: Project) -> dict[str, Trust]:
    """The trust in each person by `who`, from latest labels without machines'; empty if no step is shared."""
    human = [label for label in latest_labels(project) if not label.machine]
    rows = StepRating.objects.filter(state="rated", annotation__in=[label.label for label in human])
    votes: list[Vote] = []
    settled: dict[Step, int] = {}
    decides = {label.label for label in human if label.adjudicates}
    for solution, position, alternative, annotator, source, rating, annotation, domain in rows.values_list(
        "step__solution",
        "step__position",
        "step__alternative",
        "annotation__annotator",
        "annotation__source",
        "rating",
        "annotation",
        "step__solution__problem__domain",
    ):
        if annotation in decides:
            settled[solution, position, alternative] = int(rating or 0)
        else:
            votes.append(Vote(solution, position, name_of(annotator, source), int(rating or 0), alternative, domain))
    fit = estimate(Evidence(votes, settled))
    if fit is None:
        return {}
    on_solution = Counter(label.solution for label in human)
    labels = Counter(label.who for label in human if on_solution[label.solution] > 1)
    people = {vote.person: fit.reliability(vote.person) for vote in votes}
    return {who: Trust(who, labels[who], reliability) for who, reliability in people.items() if reliability.labels}
