"""Scores the solutions of the pool that have no score of the champion, in slices shared with other workers."""

from annotation.core.stages import Outcome
from annotation.loop import registry
from annotation.loop.pool.scoring import help_scoring
from annotation.loop.rounds.work import StageWork
from annotation.models import Generation, ModelVersion, PoolScoring
from prm.messages import Message


def perform(work: StageWork) -> Outcome:
    champion = registry.champion_of(work.project)
    if champion is None:
        return Outcome(Message("no_model_serves"), skipped=True)
    scoring = help_scoring(champion)
    if scoring.live:
        work.beat(scoring.share)
        return Outcome(
            Message(
                "scoring_progress", done=scoring.wanted - scoring.left, wanted=scoring.wanted, model=champion.number
            ),
            unfinished=True,
        )
    if scoring.state == PoolScoring.State.CANCELLED:
        return Outcome(Message("scoring_was_cancelled", n=scoring.left, model=champion.number), skipped=True)
    return _summary(work, champion, scoring)


def _summary(work: StageWork, champion: ModelVersion, progress: PoolScoring) -> Outcome:
    """The number of solutions scored since the open generation was drawn, by this stage or before it."""
    current = work.project.generations.filter(state=Generation.State.OPEN).first()
    new = progress.cut_at is not None and (current is None or progress.cut_at >= current.created_at)
    if not new and work.run.model_version is None:
        return Outcome(Message("pool_already_scored", number=champion.number), skipped=True)
    speed = progress.steps / progress.seconds if new and progress.seconds else 0.0
    scored = Message("n_solutions_scored", n=progress.wanted if new else 0, model=champion.number)
    if not speed:
        return Outcome(scored)
    return Outcome(Message("scored_at_speed", scored=scored, speed=speed))
