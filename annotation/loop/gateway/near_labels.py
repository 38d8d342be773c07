"""Why a served score is what it is: the labels that stand nearest to each of its steps."""

from pathlib import Path

import msgspec

from annotation.core.errors import DomainError
from annotation.loop.gateway.scoring import loaded_scorer
from annotation.loop.gateway.serving_model import Text, trace_of_text
from annotation.loop.gateway.training import model_path
from annotation.models import ModelVersion
from prm.messages import Message

NEAREST = 3
STRONGEST = 3


class NearLabel(msgspec.Struct):
    """A labelled step of the training data; `solution` and `position` name it in the project, 0 is the same place."""

    distance: float
    solution: int
    position: int
    step: str
    good: float
    neutral: float
    bad: float


class StepReason(msgspec.Struct):
    """`moved_by` names what moved the score most and by how many logits; `near_good` is the share of near labels
    without an error."""

    position: int
    score: float
    near_good: float
    moved_by: list[tuple[str, float]]
    nearest: list[NearLabel]


def reasons_of(version: ModelVersion, text: Text, training: Path) -> list[StepReason]:
    """One entry a scored step. `training` is what the version learned from; its places are kept beside the model.

    Raises DomainError (`no_explanation`) where these are gone, and `model_unusable`.
    """
    from prm.errors import PRMError
    from prm.probes.explanation import explain
    from prm.probes.neighbours import FILE, Neighbours

    scorer = loaded_scorer(version)
    kept = model_path(version) / FILE
    try:
        if kept.is_file():
            neighbours = Neighbours.load(kept, scorer)
        else:
            neighbours = Neighbours.build(scorer, training)
            neighbours.save(kept)
        [explanation] = explain(scorer, neighbours, [trace_of_text(text)], k=NEAREST)
    except (PRMError, OSError) as error:
        raise DomainError(
            "no_explanation", Message("explanation_labels_unreadable", number=version.number, error=error)
        ) from error
    return [
        StepReason(
            position=view.position,
            score=view.score,
            near_good=view.near_good,
            moved_by=sorted(view.moved_by.items(), key=lambda part: -abs(part[1]))[:STRONGEST],
            nearest=[
                NearLabel(
                    distance=one.distance,
                    solution=int(one.trace_id) if one.trace_id.isdecimal() else 0,
                    position=one.position,
                    step=one.step.text,
                    good=one.label.good,
                    neutral=one.label.neutral,
                    bad=one.label.bad,
                )
                for one in view.neighbours
            ],
        )
        for view in explanation.steps
    ]
