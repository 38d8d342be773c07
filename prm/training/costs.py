"""Measures the cost of training: useful tokens, arithmetic as a share of the peak, memory, energy, seconds by stage.

Utilisation counts the arithmetic that the model needs, without recomputation by checkpointing (PaLM, Chowdhery et al.
2022, appendix B): 2 N per token for a forward pass over N decoder weights, 2 N for the gradients of the states, and 2 N
for those of trained weights. Causal attention costs 2 T^2 d per layer and pass, and its gradients twice that in any
lane. Energy is read from the driver's counters, if any.
"""

import re
import resource
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch

from prm.backbones import Backbone
from prm.config import Lane
from prm.manifest import Costs, StageCost
from prm.packing import fill_batches, places
from prm.processes import local_rank
from prm.training.distributed import ALONE, Team

RAPL = Path("/sys/class/powercap")


def energy_counter(device: torch.device) -> "DeviceEnergy | PackageEnergy | None":
    """The energy counter of the device, or of the processors for a CPU; None if there is none.

    It counts joules since its creation; `source` describes it.
    """
    if device.type == "cuda":
        return DeviceEnergy.of(device)
    if local_rank() != 0:  # one process counts the machine's energy
        return None
    packages = [package for package in RAPL.glob("intel-rapl:?") if _readable(package / "energy_uj")]
    return PackageEnergy(packages) if packages else None


class DeviceEnergy:
    """NVML's total of one GPU, including other users."""

    source = "the GPU's counter (NVML), of this process's device"

    def __init__(self, handle: object) -> None:
        self.handle = handle
        self.begun = self._joules()

    @classmethod
    def of(cls, device: torch.device) -> "DeviceEnergy | None":
        try:
            import pynvml
        except ImportError:
            return None
        try:
            pynvml.nvmlInit()
            uuid = torch.cuda.get_device_properties(device).uuid
            return cls(pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}"))
        except pynvml.NVMLError:  # older than Volta, or no permission
            return None

    def spent(self) -> float:
        return self._joules() - self.begun

    def _joules(self) -> float:
        import pynvml

        return pynvml.nvmlDeviceGetTotalEnergyConsumption(self.handle) / 1000


class PackageEnergy:
    """RAPL's total of all processor packages. The counters wrap within an hour: call `spent` more often than that."""

    source = "the processors' counters (RAPL), of the whole machine"

    def __init__(self, packages: list[Path]) -> None:
        self.ranges = {package: _number(package / "max_energy_range_uj") for package in packages}
        self.last = {package: _number(package / "energy_uj") for package in packages}
        self.microjoules = 0

    def spent(self) -> float:
        for package, last in self.last.items():
            now = _number(package / "energy_uj")
            self.microjoules += (now - last) % self.ranges[package]
            self.last[package] = now
        return self.microjoules / 1e6


def _number(path: Path) -> int:
    return int(path.read_text())


def _readable(path: Path) -> bool:
    try:
        return _number(path) >= 0
    except (OSError, ValueError):
        return False


PEAKS = {  # dense bf16 FLOP/s by a part of the device's name, from NVIDIA's data sheets; sparse figures are twice these
    "B200": 2250e12,
    "H200": 989e12,
    "H100 PCIe": 756e12,
    "H100 NVL": 835e12,
    "H100": 989e12,
    "A100": 312e12,
    "L40S": 362e12,
    "L4": 121e12,
    "A10": 125e12,
    "RTX 4090": 165e12,
    "RTX 3090": 71e12,
}
DATA_SHEET = "dense bf16, NVIDIA data sheet"
PROBE_TIMES = 5


@dataclass(frozen=True)
class Arithmetic:
    """FLOPs of one pass: `weights` and `head` per token, `attention` per pair of tokens."""

    weights: int
    head: int
    attention: int

    @classmethod
    def of(cls, backbone: Backbone, *, predictions: bool) -> "Arithmetic":
        """`predictions` says whether the vocabulary's logits are computed for the steps' tokens."""
        decoder, config = backbone.model.get_decoder(), backbone.model.config.get_text_config()
        outside = {id(backbone.model.get_input_embeddings().weight)}
        matrices = [p for name, p in decoder.named_parameters() if p.ndim == 2 and "lora_" not in name]
        shapes = [getattr(p, "quant_state", p).shape for p in matrices if id(p) not in outside]  # 4 bits are packed
        weights = sum(shape.numel() for shape in shapes)
        head = backbone.model.get_output_embeddings().weight.numel() if predictions else 0
        heads = getattr(config, "num_attention_heads", 0)  # none in a state-space model
        per_head = getattr(config, "head_dim", None) or config.hidden_size // max(1, heads)
        return cls(2 * weights, 2 * head, 2 * config.num_hidden_layers * heads * per_head)

    def forward(self, lengths: Iterable[int]) -> int:
        """FLOPs of a forward pass over documents of these lengths."""
        return sum((self.weights + self.head) * n + self.attention * n * n for n in lengths)

    def learning(self, lengths: Iterable[int], lane: Lane) -> int:
        """FLOPs of a forward and backward pass that trains all weights ("full") or adapters ("lora")."""
        passes = 3 if lane == "full" else 2
        return sum((passes * self.weights + self.head) * n + 3 * self.attention * n * n for n in lengths)


class Meter:
    """Counts the work of each stage of this process since its creation."""

    def __init__(self, device: torch.device, team: Team = ALONE) -> None:
        self.device, self.team = device, team
        self.seconds: dict[str, float] = defaultdict(float)
        self.tokens: dict[str, int] = defaultdict(int)
        self.places: dict[str, int] = defaultdict(int)
        self.flops: dict[str, int] = defaultdict(int)
        self.stage, self.since = "", time.monotonic()
        self.others_joules, self.memory = 0.0, (0, "")
        self.peak, self.peak_source = device_peak(device)
        self.energy = energy_counter(device)
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)

    def enter(self, stage: str) -> None:
        """Start or continue counting for `stage`."""
        now = time.monotonic()
        if self.stage:
            self.seconds[self.stage] += now - self.since
        if self.energy:
            self.energy.spent()
        self.stage, self.since = stage, now

    def add(self, tokens: int, places: int, flops: int) -> None:
        """Add tokens of text, the tokens including padding, and the required arithmetic."""
        self.tokens[self.stage] += tokens
        self.places[self.stage] += places
        self.flops[self.stage] += flops

    def add_passes(self, lengths: list[int], budget: int, backbone: Backbone, arithmetic: Arithmetic) -> None:
        """Add passes without gradient over documents, at most `budget` tokens at a time."""
        for batch in fill_batches(lengths, budget, packed=backbone.packed):
            of_batch = [lengths[index] for index in batch]
            self.add(sum(of_batch), places(of_batch, packed=backbone.packed), arithmetic.forward(of_batch))

    def add_lesson(self, lengths: list[int], lane: Lane, backbone: Backbone, arithmetic: Arithmetic) -> None:
        """Add one training step on a batch of documents."""
        self.add(sum(lengths), places(lengths, packed=backbone.packed), arithmetic.learning(lengths, lane))

    def rates(self, stage: str) -> StageCost:
        """The cost of the stage so far, assuming that the other processes are like this one."""
        size = self.team.size
        return self._cost(stage, self.tokens[stage] * size, self.places[stage] * size, self.flops[stage] * size)

    def absorb(self) -> None:
        """Add the other processes' counts to the leader's; every process must call this."""
        mine = ([dict(self.tokens), dict(self.places), dict(self.flops)], self._joules(), _peak_memory(self.device))
        for counts, joules, memory in self.team.gather_to_leader(mine)[1:]:
            for own, theirs in zip((self.tokens, self.places, self.flops), counts, strict=True):
                for stage, count in theirs.items():
                    own[stage] += int(count)
            self.others_joules += joules or 0.0
            self.memory = max(self.memory, memory)

    def costs(self) -> Costs:
        """The total cost, for the manifest."""
        self.enter("")
        joules = self._joules()
        memory, kind = max(self.memory, _peak_memory(self.device))
        return Costs(
            device=_name(self.device),
            processes=self.team.size,
            peak_flops=self.peak,
            peak_source=self.peak_source,
            peak_memory_bytes=memory,
            memory_kind=kind,
            energy_joules=None if joules is None else round(joules + self.others_joules, 1),
            energy_source=self.energy.source if self.energy else "",
            stages={
                stage: self._cost(stage, self.tokens[stage], self.places[stage], self.flops[stage])
                for stage in self.seconds
                if stage
            },
        )

    def _joules(self) -> float | None:
        return self.energy.spent() if self.energy else None

    def _cost(self, stage: str, tokens: int, places: int, flops: int) -> StageCost:
        seconds = self.seconds[stage] + (time.monotonic() - self.since if stage == self.stage else 0.0)
        if not tokens or not seconds:
            return StageCost(seconds=round(seconds, 3))
        return StageCost(
            seconds=round(seconds, 3),
            tokens=tokens,
            tokens_per_second=round(tokens / seconds, 1),
            padded_share=round(1 - tokens / places, 4),
            utilisation=round(flops / seconds / self.peak / self.team.size, 4),
        )


def device_peak(device: torch.device) -> tuple[float, str]:
    """The peak FLOP/s of a device, and the source of the figure."""
    name = _name(device)
    for part, peak in PEAKS.items():
        if device.type == "cuda" and re.search(rf"\b{part}\b", name):
            return peak, DATA_SHEET
    dtype, size = (torch.bfloat16, 8192) if device.type == "cuda" else (torch.float32, 768)
    return _probe(device, dtype, size), f"measured by a {dtype} matmul of {size} here".replace("torch.", "")


@lru_cache(maxsize=4)
def _probe(device: torch.device, dtype: torch.dtype, size: int) -> float:
    matrix = torch.ones(size, size, device=device, dtype=dtype)
    best = float("inf")
    for _ in range(PROBE_TIMES):
        begun = time.perf_counter()
        (matrix @ matrix)[0, 0].item()
        best = min(best, time.perf_counter() - begun)
    return 2 * size**3 / best


def _name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"{device.type}, {threads} thread{'s' if threads > 1 else ''}"


def _peak_memory(device: torch.device) -> tuple[int, str]:
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device), "allocated on the device"
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "resident in the process"
