"""The steps after a sampling run: the champion scores the new solutions, then a new generation includes them."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import DomainError
from annotation.core.jobs import SCORE_TASK, enqueue
from annotation.core.lifecycle import end_job
from annotation.core.periodic import for_each
from annotation.loop import registry
from annotation.loop.selection.generations import new_seed, open_generation
from annotation.models import SamplingRun, Solution
from prm.messages import Message

State = SamplingRun.State
LONGEST_WAIT = timedelta(hours=1)


@transaction.atomic
def follow(run: SamplingRun, *, note: str = "") -> None:
    """Enqueue the scoring of the new solutions. A run that opens a generation waits for their scores."""
    champion = registry.champion_of(run.project)
    if champion is not None and run.accepted:
        enqueue(SCORE_TASK)
    run.note = note or ("" if run.accepted else Message("sampling_brought_nothing"))
    if run.opens_generation and run.accepted:
        run.state, run.finished_at = State.SCORING, timezone.now()
    run.save(update_fields=["state", "note", "finished_at"])
    if run.state == State.SCORING and champion is None:
        _open(run)


def open_generations() -> int:
    """Open the generation of each run whose new solutions have scores; returns how many."""
    waiting = SamplingRun.objects.filter(state=State.SCORING).values_list("pk", flat=True)
    return for_each(list(waiting), _open_if_scored)


@transaction.atomic
def _open_if_scored(run_id: int) -> bool:
    locked = SamplingRun.objects.select_for_update(of=("self",), skip_locked=True)
    run = locked.select_related("project").filter(pk=run_id, state=State.SCORING).first()
    if run is None:
        return False
    if run.cancel_requested:  # after its worker had ended, so that no other ends it
        end_job(run, State.CANCELLED)
        return False
    overdue = run.finished_at is not None and timezone.now() - run.finished_at > LONGEST_WAIT
    if _waits_for_scores(run) and not overdue:
        return False
    _open(run)
    return True


def _waits_for_scores(run: SamplingRun) -> bool:
    champion = registry.champion_of(run.project)
    fresh = Solution.objects.filter(project=run.project, split="pool", created_at__gte=run.started_at)
    return champion is not None and fresh.exclude(pool_scores__model_version=champion).exists()


def _open(run: SamplingRun) -> None:
    try:
        run.generation = open_generation(
            by=run.requested_by, project=run.project, model=registry.champion_of(run.project), seed=new_seed()
        )
    except DomainError as error:
        end_job(run, State.FAILED, Message("no_generation_opened", error=error))
        return
    run.save(update_fields=["generation"])
    end_job(run, State.DONE)
