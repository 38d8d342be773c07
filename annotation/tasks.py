"""Celery tasks, each of which calls one service. Imports are inside, so that a worker loads only what it runs."""

from celery import shared_task


@shared_task(name="jobs.sweep")
def sweep_jobs() -> None:
    from annotation.core import lifecycle

    lifecycle.sweep_jobs()


@shared_task(name="webhooks.deliver", soft_time_limit=30)
def deliver_webhook(delivery_id: int) -> None:
    from annotation.core.webhooks import delivery

    delivery.deliver(delivery_id)


@shared_task(name="webhooks.enqueue_due")
def enqueue_due_deliveries() -> None:
    from annotation.core.webhooks import delivery

    delivery.enqueue_due()


@shared_task(name="webhooks.forget")
def forget_deliveries() -> None:
    from annotation.core.webhooks import delivery

    delivery.forget_deliveries()


@shared_task(name="rounds.advance")
def advance_run(run_id: int, stage: str = "") -> None:
    from annotation.loop.rounds import pipeline

    pipeline.advance(run_id, stage)


@shared_task(name="rounds.start_due")
def start_due_runs() -> None:
    from annotation.loop.schedule import automatic

    automatic.start_due_runs()


@shared_task(name="rounds.open_first")
def open_first_generation(project_id: int, user_id: int) -> None:
    from annotation.loop.selection import generations

    generations.open_requested(project_id, user_id)


@shared_task(name="rounds.score_pool")
def score_pool(scoring_id: int, seat: str) -> None:
    from annotation.loop.pool import scoring

    scoring.run_scoring(scoring_id, seat)


@shared_task(name="rounds.score_unscored")
def score_unscored() -> None:
    from annotation.loop.pool import scoring

    scoring.score_unscored()


@shared_task(name="rounds.check_scores")
def check_scores() -> None:
    from annotation.loop.pool import checking

    checking.check_champions()


@shared_task(name="rounds.prune")
def prune_runs() -> None:
    from annotation.loop.rounds import retention

    retention.prune_runs()


@shared_task(name="rounds.model_job")
def run_model_job(job_id: int) -> None:
    from annotation.loop.model_jobs import jobs

    jobs.run_model_job(job_id)


@shared_task(name="rounds.audit_champions")
def audit_champions() -> None:
    from annotation.loop.model_jobs import jobs

    jobs.audit_champions()


@shared_task(name="rounds.keep_models")
def keep_models() -> None:
    from annotation.loop.model_jobs import retention

    retention.keep_to_policy()


@shared_task(name="rounds.simulate")
def run_simulation(simulation_id: int) -> None:
    from annotation.loop.proof import simulating

    simulating.run_simulation(simulation_id)


@shared_task(name="queue.expire_leases")
def expire_leases() -> int:
    from annotation.work.queue import leases

    return leases.expire_leases()


@shared_task(name="quality.fit_consensus")
def fit_consensus(fit_id: int) -> None:
    from annotation.labels.consensus import fits

    fits.run_fit(fit_id)


@shared_task(name="quality.start_due_fits")
def start_due_fits() -> int:
    from annotation.labels.consensus import fits

    return fits.request_due_fits()


@shared_task(name="quality.watch")
def watch_labels() -> int:
    from annotation.labels.annotators import batch_watch

    return batch_watch.watch_projects()


@shared_task(name="intake.run")
def run_import(job_id: int) -> None:
    from annotation.files import import_body

    import_body.run_import(job_id)


@shared_task(name="intake.sweep_uploads")
def sweep_uploads() -> None:
    from annotation.files import uploads

    uploads.sweep_uploads()


@shared_task(name="intake.check_answers")
def check_answers(check_id: int) -> None:
    from annotation.files import answer_checks

    answer_checks.run_answer_check(check_id)


@shared_task(name="datasets.export")
def run_export(job_id: int) -> None:
    from annotation.labels.datasets import export_jobs

    export_jobs.run_export(job_id)


@shared_task(name="datasets.check_contamination")
def check_contamination(check_id: int) -> None:
    from annotation.labels.datasets import contamination

    contamination.run_check(check_id)


@shared_task(name="datasets.start_due_exports")
def start_due_exports() -> int:
    from annotation.labels.datasets import export_schedules

    return export_schedules.start_due_exports()


@shared_task(name="sampling.run")
def run_sampling(run_id: int) -> None:
    from annotation.loop.sampling import run_body

    run_body.run_sampling(run_id)


@shared_task(name="judging.run")
def run_judging(run_id: int) -> None:
    from annotation.loop.judging import run_body

    run_body.run_judging(run_id)


@shared_task(name="sampling.open_generations")
def open_generations() -> None:
    from annotation.loop.sampling import following

    following.open_generations()


@shared_task(name="serving.review")
def review_scores(version_id: int, problem: str, steps: list[list[str]]) -> None:
    from annotation.loop.gateway.serving_model import Text
    from annotation.serving import reviewing

    reviewing.review(version_id, Text(problem, tuple((text, kind) for text, kind in steps)))


@shared_task(name="serving.forget_scores")
def forget_scores() -> int:
    from annotation.serving import traffic

    return traffic.forget_old_scores()
