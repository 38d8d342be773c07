"""A round of the loop with a live policy, on the platform's database. `examples/connect_policy.sh` runs it.

A champion learns from the demo's simulated labels. The policy samples eight solutions of each problem that has
no label; they are graded, imported, scored by the champion, and the next generation queues them. What then lies in
the database says what the champion's pick among a problem's samples is worth against any one of them.
"""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
django.setup()

from collections import defaultdict  # noqa: E402

from django.core.management import call_command  # noqa: E402

from annotation.loop import registry  # noqa: E402
from annotation.loop.pool.scoring import help_scoring  # noqa: E402
from annotation.loop.sampling.following import open_generations  # noqa: E402
from annotation.management.demo.creation import create_demo  # noqa: E402
from annotation.models import PoolScore, QueueItem, SamplingRun  # noqa: E402
from examples.setting import gain, shares  # noqa: E402

SOLUTIONS, LABELLED, SAMPLES = 600, 300, 8


def main() -> None:
    project = create_demo(say=print, solutions=SOLUTIONS, first_budget=LABELLED)
    champion = registry.champion_of(project)
    if champion is None:  # so few holdout labels may not tell the first model from none
        print("The gate did not promote the first model; this example promotes it anyway.")
        champion = registry.crown(by=None, version=project.model_versions.latest("number"), reason="for the example")
    call_command(
        "connect_policy", project.slug, endpoint="sandbox", samples=SAMPLES, choice="unlabelled", open_generation=True
    )
    run = SamplingRun.objects.latest("pk")
    while help_scoring(champion).live:  # what the workers do where the platform runs
        pass
    open_generations()
    run.refresh_from_db()
    assert run.generation is not None, run.error
    queued = QueueItem.objects.filter(generation=run.generation)
    fresh = queued.filter(solution__provenance__run=run.name).count()
    print(f"Generation {run.generation.number} is open: {fresh} of its {queued.count()} items are new samples.")
    _report(run, champion.pk)


def _report(run: SamplingRun, champion: int) -> None:
    """Accuracy on the pool's problems without labels whose samples the champion scored."""
    pools: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    rows = PoolScore.objects.filter(model_version=champion, solution__provenance__run=run.name)
    graded = rows.filter(score__isnull=False, solution__final_answer_correct__isnull=False)
    for problem, score, right in graded.values_list("solution__problem", "score", "solution__final_answer_correct"):
        pools[problem].append((score, right))
    plain = [sum(right for _, right in pool) / len(pool) for pool in pools.values()]
    picked = [float(max(pool, key=lambda sample: sample[0])[1]) for pool in pools.values()]
    print(f"{len(pools)} unlabelled problems, {sum(map(len, pools.values()))} distinct samples")
    shares("any one sample", plain)
    shares("the champion's pick", picked)
    gain("the pick over one sample", picked, plain)


if __name__ == "__main__":
    main()
