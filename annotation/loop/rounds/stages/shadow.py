"""Trains two models that never serve, on equal labelling time of both lanes, and stores their comparison."""

import shutil
from pathlib import Path

import msgspec
import numpy as np

from annotation.core.errors import DomainError
from annotation.core.stages import Outcome
from annotation.labels.datasets.snapshots import read_graded, read_snapshot
from annotation.loop.gateway.measuring import compare
from annotation.loop.gateway.traces import write_holdout_traces, write_training_traces
from annotation.loop.gateway.training import read_manifest, shadow_config
from annotation.loop.processes.watched import prm_command, watch
from annotation.loop.proof.arms import ARMS, Matched, arm, in_start, match, units_of
from annotation.loop.proof.lane_estimates import estimates_of
from annotation.loop.rounds import trainer
from annotation.loop.rounds.work import StageWork
from annotation.models import Lane, ShadowComparison
from prm.evaluation import Comparison
from prm.messages import Message
from prm.threshold import Threshold

LEAST_LABELS = 20  # of each lane
HOLDOUT = "holdout.jsonl"
START = "start"


def perform(work: StageWork) -> Outcome:
    done = ShadowComparison.objects.filter(run=work.run).first()
    if done is not None:
        return Outcome(_figure(done))
    matched = match(units_of(read_snapshot(work.snapshot)), np.random.default_rng(work.run.seed))
    folder = work.folder / "shadow"
    folder.mkdir(exist_ok=True)
    try:
        settled = write_holdout_traces(read_snapshot(work.snapshot), folder / HOLDOUT)
        if reason := _why_not(work, matched, settled):
            return Outcome(reason, skipped=True)
        with work.training_slot() as devices:
            for lane in ARMS:
                _train(work, matched, lane, folder / lane, devices)
            try:
                _train(work, matched, START, folder / START, devices)  # on the labels that both arms share
            except DomainError as error:  # too few labels to train on: there are no scores then
                work.log(Message("shadow_start_untrainable", error=error))
        comparison = _measure(work, matched, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if comparison is None:
        return Outcome(Message("no_holdout_domain_with_both_kinds"), skipped=True)
    work.log(_figure(comparison))
    return Outcome(_figure(comparison))


def _why_not(work: StageWork, matched: Matched, settled: int) -> Message | None:
    """Why there is no comparison; None if there is one. `settled` counts holdout solutions with a known first error."""
    policy = work.project.policies
    last = work.project.shadow_comparisons.select_related("run").first()
    if not policy.shadow_models:
        return Message("shadow_switched_off")
    if matched.fewest < LEAST_LABELS:
        return Message("shadow_labels_too_few", n=matched.fewest, least=LEAST_LABELS)
    if settled < policy.gate_min_holdout:
        return Message("shadow_holdout_too_small", n=settled, least=policy.gate_min_holdout)
    if last is not None and last.snapshot_id == work.snapshot.pk:
        return Message("shadow_no_new_label", n=last.run.number)
    return None


def _train(work: StageWork, matched: Matched, lane: str, out: Path, devices: str) -> None:
    """Train the arm's model into `out`, and write its scores of the holdout beside it."""
    data, config, log = out.with_suffix(".jsonl"), out.with_suffix(".json"), work.folder / f"shadow-{lane}.log"
    out.mkdir(exist_ok=True)
    labelled = arm(read_snapshot(work.snapshot), lane, matched.chosen.get(lane, frozenset()))
    write_training_traces(labelled, data, graded=read_graded(work.snapshot))  # the same in every arm, as in training
    choices = shadow_config(work.project.policies, seed=work.project.training_runs.earliest("number").seed)
    config.write_bytes(msgspec.json.encode(choices))
    trainer.train(
        data=data,
        out=out,
        config=config,
        log=log,
        devices=devices,
        on_progress=lambda line: work.beat(),
        on_tick=work.beat,
    )
    holdout = out.parent / HOLDOUT
    scoring = prm_command("score", "--model", out, "--data", holdout, "--out", _scores(out), devices=devices)
    watch(scoring, log=log, on_tick=work.beat)


def _measure(work: StageWork, matched: Matched, folder: Path) -> ShadowComparison | None:
    acquisition, control = (folder / lane for lane in ARMS)
    compared = _compare(work, acquisition, control)
    if compared is None:
        return None
    start = folder / START
    started = _compare(work, acquisition, start) if _scores(start).exists() else None
    return ShadowComparison.objects.create(
        project=work.project,
        run=work.run,
        snapshot=work.snapshot,
        generation=matched.generation,
        start_f1=started.champion if started else None,
        start_labels=_start_labels(work),
        acquisition_labels=len(matched.chosen[Lane.ACQUISITION]),
        control_labels=len(matched.chosen[Lane.CONTROL]),
        acquisition_seconds=matched.seconds[Lane.ACQUISITION],
        control_seconds=matched.seconds[Lane.CONTROL],
        acquisition_f1=compared.challenger,
        control_f1=compared.champion,
        gain=compared.gain,
        low=compared.low,
        high=compared.high,
        samples=compared.samples,
        holdout_solutions=compared.n_solutions,
        holdout_problems=compared.n_problems,
        estimates=msgspec.to_builtins(estimates_of(work.project)),
        seed=work.run.seed,
    )


def _start_labels(work: StageWork) -> int:
    """How many solutions both arms learned from."""
    records = read_snapshot(work.snapshot)
    return sum(
        any(in_start(record, label) for label in record.annotations) for record in records if record.split != "holdout"
    )


def _compare(work: StageWork, first: Path, second: Path) -> Comparison | None:
    """Compare two shadow models on the holdout, the `first` as the challenger."""
    return compare(
        first.parent / HOLDOUT,
        challenger=_scores(first),
        rival=_scores(second),
        thresholds=(_threshold(first), _threshold(second)),
        seed=work.run.seed,
    )


def _scores(out: Path) -> Path:
    return out.with_suffix(".scores.jsonl")


def _threshold(out: Path) -> Threshold:
    manifest, _sha256 = read_manifest(out)
    return msgspec.convert(manifest["threshold"], Threshold)


def _figure(comparison: ShadowComparison) -> Message:
    values = {"gain": 100 * comparison.gain, "minutes": comparison.control_seconds / 60}
    if comparison.low is None or comparison.high is None:
        return Message("shadow_gain", **values)
    return Message("shadow_gain_interval", low=100 * comparison.low, high=100 * comparison.high, **values)
