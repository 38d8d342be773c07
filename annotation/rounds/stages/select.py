"""Open the next generation, ranked by the champion."""

from annotation.rounds import generations, registry
from annotation.rounds.work import Outcome, StageWork


def perform(work: StageWork) -> Outcome:
    generation = generations.open_generation(
        project=work.project, model=registry.champion_of(work.project), run=work.run, seed=work.run.seed
    )
    return Outcome(f"generation {generation.number} with {generation.items.count()} items")
