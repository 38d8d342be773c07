"""Score what the champion has not scored yet of the pool, a slice at a time, together with the other workers."""

from annotation.core.stages import Outcome
from annotation.core.wording import counted, said
from annotation.loop import registry
from annotation.loop.pool.scoring import help_scoring
from annotation.loop.rounds.work import StageWork
from annotation.models import Generation, ModelVersion, PoolScoring


def perform(work: StageWork) -> Outcome:
    champion = registry.champion_of(work.project)
    if champion is None:
        return Outcome(said("no model serves"), skipped=True)
    scoring = help_scoring(champion)
    if scoring.live:
        work.beat(scoring.share)
        return Outcome(
            said(
                "{done:,} of {wanted:,} solutions scored by model {model}",
                done=scoring.wanted - scoring.left,
                wanted=scoring.wanted,
                model=champion.number,
            ),
            unfinished=True,
        )
    return _summary(work, champion, scoring)


def _summary(work: StageWork, champion: ModelVersion, progress: PoolScoring) -> Outcome:
    """What was scored since the open generation was drawn, by this stage or before it."""
    current = work.project.generations.filter(state=Generation.State.OPEN).first()
    new = progress.cut_at is not None and (current is None or progress.cut_at >= current.created_at)
    if not new and work.run.model_version is None:
        return Outcome(said("model {number} has scored the whole pool", number=champion.number), skipped=True)
    speed = progress.steps / progress.seconds if new and progress.seconds else 0.0
    scored = counted(
        "{n:,} solution scored by model {model}",
        "{n:,} solutions scored by model {model}",
        n=progress.wanted if new else 0,
        model=champion.number,
    )
    if not speed:
        return Outcome(scored)
    return Outcome(said("{scored}, {speed:,.0f} steps a second and worker", scored=scored, speed=speed))
