"""Energy from the driver's own counters, if there are any."""

from pathlib import Path
from typing import Protocol

import torch

from prm.launched import local_rank

RAPL = Path("/sys/class/powercap")


class EnergyCounter(Protocol):
    """Joules since it was made; `source` says whose."""

    source: str

    def spent(self) -> float: ...


def energy_counter(device: torch.device) -> EnergyCounter | None:
    """The energy counter of the device, or of the processors for a CPU; None if there is none."""
    if device.type == "cuda":
        return DeviceEnergy.of(device)
    if local_rank() != 0:  # the machine's energy is for one of its processes to count
        return None
    packages = [package for package in RAPL.glob("intel-rapl:?") if _readable(package / "energy_uj")]
    return PackageEnergy(packages) if packages else None


class DeviceEnergy:
    """NVML's total of one GPU, whoever uses it."""

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
        except pynvml.NVMLError:  # older than Volta, or kept from us
            return None

    def spent(self) -> float:
        return self._joules() - self.begun

    def _joules(self) -> float:
        import pynvml

        return pynvml.nvmlDeviceGetTotalEnergyConsumption(self.handle) / 1000


class PackageEnergy:
    """RAPL's total of all processor packages. Its counters begin anew within the hour: ask oftener than that."""

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
