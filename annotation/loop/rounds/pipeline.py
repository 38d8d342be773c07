"""Runs the stages of a round in order, and ends the round if a required stage fails."""

from collections.abc import Callable

from annotation.core import storage
from annotation.core.lifecycle import State, Turn, do_part, end_job, run_job
from annotation.core.stages import Outcome, Stage, do_stage, end_stage
from annotation.loop.rounds import failures
from annotation.loop.rounds.artefacts import run_key
from annotation.loop.rounds.stages import evaluate, gate, promote, score, select, shadow, snapshot, train
from annotation.loop.rounds.work import StageWork
from annotation.models import RunPoint, RunStage, TrainingRun
from prm.messages import Message


def _sharing(perform: Callable[[StageWork], Outcome]) -> Callable[[StageWork], Outcome]:
    """The function of a stage that publishes the run's folder for the next one, also if it fails."""

    def shared(work: StageWork) -> Outcome:
        with storage.publishing(run_key(work.run)):
            return perform(work)

    return shared


STAGES: dict[str, Stage] = {
    RunStage.Name.SNAPSHOT: Stage("default", snapshot.perform),
    RunStage.Name.TRAIN: Stage("gpu", _sharing(train.perform)),
    RunStage.Name.EVALUATE: Stage("score", _sharing(evaluate.perform)),
    RunStage.Name.GATE: Stage("default", gate.perform),
    RunStage.Name.PROMOTE: Stage("default", promote.perform),
    RunStage.Name.SCORE: Stage("score", score.perform),
    RunStage.Name.SELECT: Stage("default", select.perform),
    RunStage.Name.SHADOW: Stage("gpu", _sharing(shadow.perform), optional=True),
}


def advance(run_id: int, stage_name: str = "") -> None:
    """Do stage `stage_name` if it is the next one and no other worker has it, and enqueue the following one."""
    run_job(TrainingRun, run_id, _do_next, part=stage_name, on_failure=_handle_failure)


def perform_next(run: TrainingRun) -> bool:
    """Do the run's next stage in this process; returns whether stages remain."""
    return do_part(TrainingRun, run.pk, _do_next, on_failure=_handle_failure)[1] is Turn.AGAIN


def run_through(run: TrainingRun) -> TrainingRun:
    """Do all remaining stages in this process."""
    while perform_next(run):
        pass
    run.refresh_from_db()
    return run


def _do_next(run: TrainingRun) -> Turn | None:
    return do_stage(run, STAGES, StageWork)


def _handle_failure(run: TrainingRun, error: Exception) -> Turn | None:
    """End the run with the error's explanation, or skip its stage if that is optional."""
    stage = run.stage
    if stage is not None and stage.optional:
        reason = failures.what_happened(error)
        point = Message("optional_stage_failed", reason=reason)
        RunPoint.objects.create(run=run, stage=stage.name, message=point)
        figure = Message("optional_stage_figure_failed", reason=reason)
        return end_stage(run, stage, Outcome(figure, skipped=True))
    code, sentences = failures.explain(stage.name if stage else "", error)
    end_job(run, State.FAILED, sentences, failure=code)
    return None
