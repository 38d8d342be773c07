"""What follows a sampling: the champion scores what is new, and then a generation queues it for labelling."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotation.errors import DomainError
from annotation.jobs import enqueue
from annotation.models import SamplingRun, Solution, Split
from annotation.rounds import registry
from annotation.rounds.generations import new_seed, open_generation
from annotation.sampling.runs import State, end_sampling

SCORE_TASK = "rounds.score_news"
LONGEST_WAIT = timedelta(hours=1)


@transaction.atomic
def follow(run: SamplingRun, *, note: str = "") -> None:
    """Have the new solutions scored, and end the run, or let it wait for the scores where a generation is to open."""
    champion = registry.champion_of(run.project)
    if champion is not None and run.accepted:
        enqueue(SCORE_TASK)
    if not run.opens_generation or not run.accepted:
        end_sampling(run, State.DONE, note=note or ("" if run.accepted else "It brought nothing new."))
        return
    run.state, run.note, run.finished_at = State.SCORING, note, timezone.now()
    run.save(update_fields=["state", "note", "finished_at"])
    if champion is None:
        _open(run)


def open_generations() -> int:
    """Open the generation of each run whose new solutions have their scores; returns how many."""
    waiting = SamplingRun.objects.filter(state=State.SCORING).values_list("pk", flat=True)
    return sum(_open_if_scored(run) for run in list(waiting))


@transaction.atomic
def _open_if_scored(run_id: int) -> bool:
    locked = SamplingRun.objects.select_for_update(of=("self",), skip_locked=True)
    run = locked.select_related("project").filter(pk=run_id, state=State.SCORING).first()
    if run is None:
        return False
    overdue = run.finished_at is not None and timezone.now() - run.finished_at > LONGEST_WAIT
    if _waits_for_scores(run) and not overdue:
        return False
    _open(run)
    return True


def _waits_for_scores(run: SamplingRun) -> bool:
    champion = registry.champion_of(run.project)
    fresh = Solution.objects.filter(project=run.project, split=Split.POOL, created_at__gte=run.started_at)
    return champion is not None and fresh.exclude(pool_scores__model_version=champion).exists()


def _open(run: SamplingRun) -> None:
    try:
        run.generation = open_generation(
            by=run.requested_by, project=run.project, model=registry.champion_of(run.project), seed=new_seed()
        )
    except DomainError as error:
        end_sampling(run, State.FAILED, note=run.note, error=f"No generation was opened: {error.message}")
        return
    run.save(update_fields=["generation"])
    end_sampling(run, State.DONE, note=run.note)
