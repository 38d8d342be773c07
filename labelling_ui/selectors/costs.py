"""What a model's training cost, as the run page shows it."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.models import ModelVersion
from labelling_ui.numbers import decimal

MAIN_STAGES = ("train", "cache")  # the first of them that ran the backbone sets the rate shown


@dataclass(frozen=True)
class Cost:
    """One figure with its name and what it is measured by."""

    name: str
    value: str
    source: str = ""


def costs_of(version: ModelVersion) -> list[Cost]:
    """The figures that the manifest has; none for a model trained before they were kept."""
    costs = version.manifest.get("costs")
    if not costs:
        return []
    found = [Cost(_("device"), _device(costs))]
    stage = next((costs["stages"][name] for name in MAIN_STAGES if costs["stages"].get(name, {}).get("tokens")), None)
    if stage is not None:
        found += [
            Cost(_("useful tokens a second"), decimal(stage["tokens_per_second"])),
            Cost(_("padding"), f"{decimal(100 * stage['padded_share'], 1)} %"),
            Cost(_("utilisation"), f"{decimal(100 * stage['utilisation'], 1)} %", _peak(costs)),
        ]
    found.append(Cost(_("peak memory"), f"{decimal(costs['peak_memory_bytes'] / 1e9, 2)} GB", costs["memory_kind"]))
    if costs["energy_joules"] is not None:
        found.append(Cost(_("energy"), f"{decimal(costs['energy_joules'] / 3600, 1)} Wh", costs["energy_source"]))
    seconds = [
        f"{name} {decimal(one['seconds'], 1)} s" for name, one in costs["stages"].items() if one["seconds"] >= 0.05
    ]
    found.append(Cost(_("time"), ", ".join(seconds)))
    return found


def _device(costs: dict) -> str:
    return costs["device"] if costs["processes"] == 1 else f"{costs['processes']} × {costs['device']}"


def _peak(costs: dict) -> str:
    return f"of {costs['peak_flops'] / 1e12:,.2f} TFLOP/s ({costs['peak_source']})"
