"""Figures of a training run: its progress and the cost of the model."""

import re
from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from annotation.models import ModelVersion, RunPoint, RunStage, TrainingRun
from labelling_ui.numbers import decimal, percent

LEAST_SHARE = 0.02  # of a stage, before its remaining time is estimated


@dataclass(frozen=True)
class TrainingProgress:
    """Losses in nats per labelled step; `seconds_left` of the training stage. None while unknown."""

    step: int
    of: int
    loss: float | None
    held_loss: float | None
    tokens_per_second: float | None
    utilisation: float | None
    seconds_left: float | None


def progress_of_training(run: TrainingRun) -> TrainingProgress | None:
    """The latest figures; None before the first."""
    points = RunPoint.objects.filter(run=run, loss__isnull=False).order_by("-pk")
    last = points.first()
    if last is None or not last.of or last.step is None:
        return None
    held = points.filter(held_loss__isnull=False).first()
    return TrainingProgress(
        step=last.step,
        of=last.of,
        loss=last.loss,
        held_loss=held.held_loss if held else None,
        tokens_per_second=last.tokens_per_second,
        utilisation=last.utilisation,
        seconds_left=_seconds_left(run),
    )


def _seconds_left(run: TrainingRun) -> float | None:
    """The remaining time by the share done. Early stopping often ends training sooner."""
    stage = run.stages.filter(name=RunStage.Name.TRAIN, state=RunStage.State.RUNNING).first()
    if stage is None or stage.progress < LEAST_SHARE:
        return None
    return stage.seconds * (1 - stage.progress) / stage.progress


MAIN_STAGES = ("train", "cache")  # the first of these that ran the backbone sets the rate shown
STAGES = {
    "read": _("reading"),
    "tokenise": _("tokenising"),
    "cache": _("passes of the backbone"),
    "train": _("training"),
    "held": _("measuring"),
    "calibrate": _("calibrating"),
}
# How cost figures are measured, as in the manifest.
SOURCES = frozenset(
    {
        gettext_noop("allocated on the device"),
        gettext_noop("resident in the process"),
        gettext_noop("the GPU's counter (NVML), of this process's device"),
        gettext_noop("the processors' counters (RAPL), of the whole machine"),
        gettext_noop("dense bf16, NVIDIA data sheet"),
    }
)
PROBED = re.compile(r"measured by a (?P<dtype>\w+) matmul of (?P<size>\d+) here")


@dataclass(frozen=True)
class Cost:
    """A cost figure, a sentence that explains it, and how it was measured."""

    name: str
    value: str
    help: str
    source: str = ""


def costs_of(version: ModelVersion) -> list[Cost]:
    """The cost figures in the manifest; empty if it has none."""
    costs = version.manifest.get("costs")
    if not costs:
        return []
    shown = [Cost(gettext("device"), _device(costs), gettext("The hardware that training ran on."))]
    stage = next((costs["stages"][name] for name in MAIN_STAGES if costs["stages"].get(name, {}).get("tokens")), None)
    if stage is not None:
        shown += [
            Cost(
                gettext("useful tokens per second"),
                decimal(stage["tokens_per_second"]),
                gettext("Tokens read per second, without padding."),
            ),
            Cost(
                gettext("padding"),
                percent(stage["padded_share"], 1),
                gettext("The share of tokens that only fill up batches."),
            ),
            Cost(
                gettext("utilisation"),
                percent(stage["utilisation"], 1),
                gettext("The share of the processor’s peak speed that training reaches."),
                _peak(costs),
            ),
        ]
    memory = f"{decimal(costs['peak_memory_bytes'] / 1e9, 2)} GB"
    shown.append(
        Cost(
            gettext("peak memory"),
            memory,
            gettext("The most memory that training used at once."),
            _source(costs["memory_kind"]),
        )
    )
    if costs["energy_joules"] is not None:
        energy = f"{decimal(costs['energy_joules'] / 3600, 1)} Wh"
        shown.append(
            Cost(gettext("energy"), energy, gettext("The energy that training used."), _source(costs["energy_source"]))
        )
    seconds = [
        f"{STAGES.get(name, name)} {decimal(stage_costs['seconds'], 1)} s"
        for name, stage_costs in costs["stages"].items()
        if stage_costs["seconds"] >= 0.05
    ]
    shown.append(Cost(gettext("time"), ", ".join(seconds), gettext("How long each stage of training took.")))
    return shown


def _device(costs: dict) -> str:
    return costs["device"] if costs["processes"] == 1 else f"{costs['processes']} × {costs['device']}"


def _peak(costs: dict) -> str:
    words = {"peak": decimal(costs["peak_flops"] / 1e12, 2), "source": _source(costs["peak_source"])}
    return gettext("of %(peak)s TFLOP/s (%(source)s)") % words


def _source(source: str) -> str:
    if probed := PROBED.fullmatch(source):
        return gettext("measured by a %(dtype)s matmul of %(size)s here") % probed.groupdict()
    return gettext(source) if source in SOURCES else source
