"""Score what the champion has not scored yet of the pool, a slice at a time, together with the other workers."""

from annotation.loop import registry
from annotation.loop.pool.scoring import begin_scoring, finish_scoring, wait_for_others
from annotation.loop.pool.shards import left_of, score_slice
from annotation.loop.rounds.work import Outcome, StageWork
from annotation.models import Generation, ModelVersion, PoolScoring
from prm.messages import Message


def perform(work: StageWork) -> Outcome:
    champion = registry.champion_of(work.project)
    if champion is None:
        return Outcome(Message("no_model_serves"), skipped=True)
    begin_scoring(champion)
    here = score_slice(champion)
    if left := left_of(champion):
        wanted = PoolScoring.objects.get(model_version=champion).wanted
        work.beat(1 - left / wanted)
        if not here.found:
            wait_for_others()
        return Outcome(
            Message("scoring_progress", done=wanted - left, wanted=wanted, model=champion.number), unfinished=True
        )
    finish_scoring(champion)
    return _summary(work, champion)


def _summary(work: StageWork, champion: ModelVersion) -> Outcome:
    """What was scored since the open generation was drawn, by this stage or before it."""
    progress = PoolScoring.objects.get(model_version=champion)
    current = work.project.generations.filter(state=Generation.State.OPEN).first()
    new = progress.cut_at is not None and (current is None or progress.cut_at >= current.created_at)
    if not new and work.run.model_version is None:
        return Outcome(Message("pool_already_scored", number=champion.number), skipped=True)
    speed = progress.steps / progress.seconds if new and progress.seconds else 0.0
    scored = Message("n_solutions_scored", n=progress.wanted if new else 0, model=champion.number)
    if not speed:
        return Outcome(scored)
    return Outcome(Message("scored_at_speed", scored=scored, speed=speed))
