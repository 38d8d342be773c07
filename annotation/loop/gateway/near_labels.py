"""Explains a served score by the training labels nearest to each of its steps."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from annotation.core import storage
from annotation.core.errors import DomainError
from annotation.loop.gateway.scoring import loaded_scorer
from annotation.loop.gateway.serving_model import Text, trace_of_text
from annotation.loop.gateway.training import model_key, model_path
from annotation.models import ModelVersion, Solution
from prm.errors import PRMError
from prm.formats.identity import key_of, text_hash
from prm.messages import Message

NEAREST = 3
STRONGEST = 3


class NearLabel(msgspec.Struct):
    """A labelled step of the training data: its solution (0: unknown), position, and distance from the scored step."""

    distance: float
    solution: int
    position: int
    step: str
    good: float
    neutral: float
    bad: float


class StepReason(msgspec.Struct):
    """Why a step has its score: the features that `moved_by` it most, in logits, and the share of good near labels."""

    position: int
    score: float
    near_good: float
    moved_by: list[tuple[str, float]]
    nearest: list[NearLabel]


def reasons_of(version: ModelVersion, text: Text, training: Path) -> list[StepReason]:
    """One entry per scored step. `training` is the version's training file; its embeddings are cached with the model.

    Raises DomainError (`no_explanation`: the file is gone; `model_unusable`).
    """
    from prm.probes.neighbours import FILE, Neighbours, explain

    scorer = loaded_scorer(version)
    stored = model_path(version) / FILE
    try:
        if stored.is_file():
            neighbours = Neighbours.load(stored, scorer)
        else:
            neighbours = Neighbours.build(scorer, training)
            neighbours.save(stored)
            storage.publish(model_key(version))
        [explanation] = explain(scorer, neighbours, [trace_of_text(text)], k=NEAREST)
    except (PRMError, OSError) as error:
        raise DomainError(
            Message("explanation_labels_unreadable", number=version.number, error=error), code="no_explanation"
        ) from error
    problems = {neighbour.problem for view in explanation.steps for neighbour in view.neighbours}
    solutions = _solutions_by_key(version.project_id, problems)
    return [
        StepReason(
            position=view.position,
            score=view.score,
            near_good=view.near_good,
            moved_by=sorted(view.moved_by.items(), key=lambda part: -abs(part[1]))[:STRONGEST],
            nearest=[
                NearLabel(
                    distance=neighbour.distance,
                    solution=solutions.get(neighbour.trace_id, 0),
                    position=neighbour.position,
                    step=neighbour.step.text,
                    good=neighbour.label.good,
                    neutral=neighbour.label.neutral,
                    bad=neighbour.label.bad,
                )
                for neighbour in view.neighbours
            ],
        )
        for view in explanation.steps
    ]


def _solutions_by_key(project_id: int, problems: Iterable[str]) -> dict[str, int]:
    """The ids of the project's solutions to problems with these texts, by the key that training files have."""
    rows = Solution.objects.filter(project=project_id, problem__text_hash__in=map(text_hash, problems))
    return {key_of(of, content): pk for pk, of, content in rows.values_list("pk", "problem__text_hash", "content_hash")}
