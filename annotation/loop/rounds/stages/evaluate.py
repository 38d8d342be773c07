"""Measure the challenger, the champion and the zero-label baseline on one revision of the holdout."""

from pathlib import Path

import msgspec
from django.utils import timezone

from annotation.core.stages import Outcome
from annotation.labels.datasets.snapshots import read_snapshot
from annotation.loop import registry
from annotation.loop.gateway.measuring import headline, report
from annotation.loop.gateway.model_cards import write_model_card
from annotation.loop.gateway.scoring import score_file, threshold_of
from annotation.loop.gateway.traces import write_holdout_traces
from annotation.loop.gateway.training import model_path
from annotation.loop.rounds.work import StageWork
from annotation.models import ModelVersion
from annotation.models.measurement import Measurement
from prm.messages import Message

HOLDOUT, CHALLENGER, CHAMPION, BASELINE = "holdout", "challenger", "champion", "baseline"


def perform(work: StageWork) -> Outcome:
    if work.run.model_version is None:
        return Outcome(Message("no_new_model"), skipped=True)
    policy, version = work.project.policies, work.version
    holdout = work.folder / f"{HOLDOUT}.jsonl"
    known = write_holdout_traces(read_snapshot(work.snapshot), holdout)
    champion = registry.champion_of(work.project)
    found = Measurement(holdout_solutions=known, champion=champion.number if champion else None)
    if not known:
        _keep(version, found)
        return Outcome(Message("no_labelled_holdout"), skipped=True)
    models: dict[str, Path | None] = {CHALLENGER: model_path(version), BASELINE: None}
    if champion is not None:
        models[CHAMPION] = model_path(champion)
    thresholds = {}
    for done, (name, model) in enumerate(models.items()):
        score_file(model, policy, holdout, work.folder / f"{name}.jsonl", on_batch=work.beat)
        thresholds[name] = threshold_of(model, policy, fitted_on=work.folder / "train.jsonl", on_batch=work.beat)
        work.beat((done + 1) / (len(models) + 1))
    reports = {
        name: report(
            holdout, work.folder / f"{name}.jsonl", model=model, threshold=thresholds[name], seed=work.run.seed
        )
        for name, model in models.items()
    }
    found.thresholds = thresholds
    found.challenger, found.baseline, found.rival = reports[CHALLENGER], reports[BASELINE], reports.get(CHAMPION)
    found.measured_at = timezone.now().isoformat(timespec="seconds")
    _keep(version, found)
    write_model_card(version)
    return Outcome(headline(reports[CHALLENGER]))


def _keep(version: ModelVersion, found: Measurement) -> None:
    version.metrics = msgspec.to_builtins(found)
    version.save(update_fields=["metrics"])
