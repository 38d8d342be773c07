"""Trains a challenger in a watched subprocess, and registers it."""

import time
from typing import Any

import msgspec

from annotation.core import storage
from annotation.core.stages import Outcome
from annotation.labels.datasets.snapshots import read_graded, read_snapshot
from annotation.loop import registry
from annotation.loop.gateway.traces import write_training_traces
from annotation.loop.gateway.training import is_unchanged, read_manifest, training_config
from annotation.loop.rounds import trainer
from annotation.loop.rounds.artefacts import TRAINER_LOG, model_folder, model_key, model_place
from annotation.loop.rounds.work import StageWork
from annotation.models import ModelVersion
from prm.messages import Message, from_json

LOG_SECONDS = 1.0


def perform(work: StageWork) -> Outcome:
    run, policy = work.run, work.project.policies
    path, out = model_place(run), model_folder(run)
    data, config_file = work.folder / "train.jsonl", work.folder / "train.json"
    # One seed for all trainings of a project: its models then differ by their labels and not by chance.
    config = training_config(policy, seed=work.project.training_runs.earliest("number").seed)
    write_training_traces(read_snapshot(work.snapshot), data, graded=read_graded(work.snapshot))
    imported = run.model_version
    if imported is not None and imported.origin == ModelVersion.Origin.IMPORTED:
        ModelVersion.objects.filter(pk=imported.pk).update(snapshot=run.snapshot)
        return Outcome(Message("imported_model_only_measured", number=imported.number), skipped=True)
    champion = registry.champion_of(work.project)
    if champion is not None and champion != run.model_version and is_unchanged(champion, data, config):
        return Outcome(Message("nothing_new_to_learn", number=champion.number), skipped=True)
    config_file.write_bytes(msgspec.json.encode(config))
    out.mkdir(parents=True, exist_ok=True)
    with work.training_slot() as devices, storage.publishing(model_key(run)) as publish_soon:

        def tick() -> None:
            work.beat()
            publish_soon()  # the checkpoint, so that another machine can resume

        trainer.train(  # ends at once if a worker died between the training and the registration
            data=data,
            out=out,
            config=config_file,
            log=work.folder / TRAINER_LOG,
            devices=devices,
            on_progress=Reporter(work),
            on_tick=tick,
        )
    manifest, sha256 = read_manifest(out)
    version = registry.register_version(job=run, path=path, sha256=sha256, manifest=manifest)
    return Outcome(Message("model_trained", n=manifest["counts"]["solutions"], number=version.number))


class Reporter:
    """Writes the trainer's progress to the run's log: every message, and at most one other line a second."""

    def __init__(self, work: StageWork) -> None:
        self.work = work
        self.logged_at = 0.0
        self.stage = ""

    def __call__(self, line: dict[str, Any]) -> None:
        stage, message = str(line.get("stage", "")), _message(line)
        share = line["step"] / line["of"] if line.get("of") else 0.0
        self.work.beat(_overall(stage, share))
        now = time.monotonic()
        if stage == self.stage and not message and now - self.logged_at < LOG_SECONDS:
            return
        self.stage, self.logged_at = stage, now
        figures = ("step", "of", "loss", "held_loss", "tokens_per_second", "utilisation")
        shown = {name: line.get(name) for name in figures if stage == "train" or name in ("step", "of")}
        self.work.log(message or stage, **shown)


def _message(line: dict[str, Any]) -> str:
    text = line.get("message", "")
    return from_json({"code": line["code"], "values": line.get("values", {}), "text": text}) if "code" in line else text


def _overall(stage: str, share: float) -> float:
    """Share of the whole training that is done; tokenising and caching are about the first third."""
    begin, end = {"tokenise": (0.0, 0.05), "cache": (0.05, 0.35), "train": (0.35, 0.95)}.get(stage, (0.95, 1.0))
    return begin + (end - begin) * share
