"""Where a simulation's worlds and features come from, small enough to hand to another process."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from prm.backbones import load_backbone
from prm.config import TrainConfig
from prm.manifest import trace_sha256
from prm.simulation.learning import Features, compute
from prm.simulation.plan import Plan
from prm.simulation.worlds import World, read_world, sandbox_world
from prm.training.caches import Cache


@dataclass(frozen=True)
class Source:
    """Sandbox worlds by name, or the file `data` in place of them; features are kept in `cache`."""

    plan: Plan
    cache: Path
    data: Path | None = None

    def world(self, name: str) -> World:
        """The traces of a world of the plan."""
        plan = self.plan
        if self.data is not None:
            return read_world(self.data, seed=plan.data_seed)
        return sandbox_world(name, plan.sizes, seed=plan.data_seed)

    def features(self, name: str) -> Features:
        """A world as the plan's backbone sees it; read from the cache where it was seen before."""
        config: TrainConfig = self.plan.config
        backbone = load_backbone(config.base, device="cpu", context=config.context, packing=config.packing)
        return compute(self.world(name), backbone, config, Cache(self.cache))

    def base_sha256(self) -> str:
        """Which backbone it is."""
        return load_backbone(self.plan.config.base, device="cpu").sha256

    def key(self, name: str, base_sha256: str) -> str:
        """What an arm in this world depends on besides its own name: under another key it is computed again."""
        world = self.world(name)
        plan = msgspec.structs.replace(self.plan, worlds=(), functions=("random",), noises=(), seeds=())
        digest = hashlib.sha256(msgspec.json.encode([plan, base_sha256]))
        for trace in (*world.pool, *world.calibration, *world.test):
            digest.update(trace_sha256(trace))
        return digest.hexdigest()[:16]
