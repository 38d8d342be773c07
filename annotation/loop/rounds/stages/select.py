"""Opens the next generation, ranked by the champion."""

from annotation.core.stages import Outcome
from annotation.loop import registry
from annotation.loop.rounds.work import StageWork
from annotation.loop.selection import generations
from annotation.models import Generation, RunStage
from prm.messages import Message


def perform(work: StageWork) -> Outcome:
    current = work.project.generations.filter(state=Generation.State.OPEN).first()
    if current is not None and _nothing_new(work):
        return Outcome(Message("generation_goes_on", number=current.number), skipped=True)
    generation = generations.open_generation(
        project=work.project, model=registry.champion_of(work.project), run=work.run, seed=work.run.seed
    )
    return Outcome(Message("generation_opened", n=generation.items.count(), number=generation.number))


def _nothing_new(work: StageWork) -> bool:
    """Whether the round has neither a new model nor a newly scored solution."""
    skipped = work.run.stages.filter(name__in=[RunStage.Name.TRAIN, RunStage.Name.SCORE], state=RunStage.State.SKIPPED)
    return skipped.count() == 2
