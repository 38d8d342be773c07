"""Measures the challenger, the champion and the zero-label baseline on one revision of the holdout."""

from pathlib import Path

from django.utils import timezone

from annotation.core.stages import Outcome
from annotation.labels.datasets.snapshots import read_snapshot
from annotation.loop import registry
from annotation.loop.gateway.measuring import headline, report, write_model_card
from annotation.loop.gateway.scoring import score_file, threshold_of
from annotation.loop.gateway.traces import write_holdout_traces
from annotation.loop.gateway.training import model_path
from annotation.loop.rounds.work import StageWork
from annotation.models.model_version import Measurement
from prm.messages import Message

HOLDOUT, CHALLENGER, CHAMPION, BASELINE = "holdout", "challenger", "champion", "baseline"


def perform(work: StageWork) -> Outcome:
    if work.run.model_version is None:
        return Outcome(Message("no_new_model"), skipped=True)
    policy, version = work.project.policies, work.version
    holdout = work.folder / f"{HOLDOUT}.jsonl"
    known = write_holdout_traces(read_snapshot(work.snapshot), holdout)
    champion = registry.champion_of(work.project)
    if champion == version:  # promoted by hand before it was measured: the baseline is its only rival
        champion = None
    version.metrics = Measurement(holdout_solutions=known, champion=champion.number if champion else None)
    if not known:
        version.save(update_fields=["metrics"])
        return Outcome(Message("no_labelled_holdout"), skipped=True)
    models: dict[str, Path | None] = {CHALLENGER: model_path(version), BASELINE: None}
    if champion is not None:
        models[CHAMPION] = model_path(champion)
    thresholds, reports = version.metrics.thresholds, {}
    for done, (name, model) in enumerate(models.items()):
        scores = work.folder / f"{name}.jsonl"
        score_file(model, policy, holdout, scores, on_batch=work.beat)
        thresholds[name] = threshold_of(model, policy, fitted_on=work.folder / "train.jsonl", on_batch=work.beat)
        reports[name] = report(holdout, scores, model=model, threshold=thresholds[name], seed=work.run.seed)
        work.beat((done + 1) / (len(models) + 1))
    version.metrics.challenger, version.metrics.baseline = reports[CHALLENGER], reports[BASELINE]
    version.metrics.rival = reports.get(CHAMPION)
    version.metrics.measured_at = timezone.now().isoformat(timespec="seconds")
    version.save(update_fields=["metrics"])
    write_model_card(version)
    return Outcome(headline(reports[CHALLENGER]))
