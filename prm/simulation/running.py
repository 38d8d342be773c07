"""Runs arms in a few processes and stores finished ones, so that a stopped simulation resumes."""

import hashlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch

from prm.backbones import load_backbone, load_configured
from prm.config import TrainConfig
from prm.files import read_records, write_records
from prm.manifest import trace_sha256
from prm.processes import die_with_parent
from prm.simulation.learning import Features, compute
from prm.simulation.plan import Arm, Curve, Plan
from prm.simulation.replay import Chooser, choose_by_function, replay
from prm.simulation.worlds import World, read_world, sandbox_world
from prm.training.caches import Cache


@dataclass(frozen=True)
class Source:
    """The source of worlds and features, small enough to send to another process.

    Worlds are the sandbox's by name, or the file `data` instead; features are computed on `device`
    (None: CUDA if available) and stored in `cache`.
    """

    plan: Plan
    cache: Path
    data: Path | None = None
    device: str | None = "cpu"

    def world(self, name: str) -> World:
        """The traces of a world of the plan."""
        plan = self.plan
        if self.data is not None:
            return read_world(self.data, seed=plan.data_seed)
        return sandbox_world(name, plan.sizes, seed=plan.data_seed)

    def features(self, name: str) -> Features:
        """The features of a world by the plan's backbone, from the cache if possible."""
        config: TrainConfig = self.plan.config
        backbone = load_configured(config, device=self.device)
        return compute(self.world(name), backbone, config, Cache(self.cache))

    def base_sha256(self) -> str:
        """The digest of the plan's backbone."""
        return load_backbone(self.plan.config.base, device="cpu").sha256

    def key(self, name: str, base_sha256: str) -> str:
        """A key of everything that an arm in this world depends on besides its name."""
        world = self.world(name)
        plan = msgspec.structs.replace(self.plan, worlds=(), functions=("random",), noises=(), graded=(0.0,), seeds=())
        digest = hashlib.sha256(msgspec.json.encode([plan, base_sha256]))
        for trace in (*world.pool, *world.calibration, *world.test):
            digest.update(trace_sha256(trace))
        return digest.hexdigest()[:16]


ARMS_FILE = "arms.jsonl"
OnArm = Callable[[Curve, int, int], None]  # a finished arm, number finished and in total


class Line(msgspec.Struct):
    """One finished arm and its world's key."""

    key: str
    curve: Curve


def run_arms(
    source: Source,
    keys: dict[str, str],
    folder: Path,
    *,
    processes: int,
    on_arm: OnArm,
    choose: Chooser = choose_by_function,
) -> list[Curve]:
    """The curves of all arms of the plan, in order; finished ones are read from the folder.

    `keys` has each world's `Source.key`. The features of every world should be in the cache.
    """
    path = folder / ARMS_FILE
    lines = _lines(path)
    arms = list(source.plan.arms())
    done = {curve.arm: curve for curve in finished_arms(source, keys, folder)}
    for curve in _replayed([arm for arm in arms if arm not in done], source, processes, choose):
        lines.append(Line(keys[curve.arm.world], curve))
        write_records(path, lines)
        done[curve.arm] = curve
        on_arm(curve, sum(arm in done for arm in arms), len(arms))
    return [done[arm] for arm in arms]


def finished_arms(source: Source, keys: dict[str, str], folder: Path) -> list[Curve]:
    """The plan's finished arms in a folder, if they have these keys."""
    wanted = set(source.plan.arms())
    return [
        line.curve
        for line in _lines(folder / ARMS_FILE)
        if line.curve.arm in wanted and keys.get(line.curve.arm.world) == line.key
    ]


def _lines(path: Path) -> list[Line]:
    return list(read_records(path, Line)) if path.exists() else []


def _replayed(arms: list[Arm], source: Source, processes: int, choose: Chooser = choose_by_function) -> Iterator[Curve]:
    if processes == 1 or len(arms) < 2:
        bench = Bench(source, choose)
        yield from map(bench.replay, arms)
        return
    context = multiprocessing.get_context("spawn")  # a fork of a process that has used torch may hang
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=(source, choose)) as pool:
        try:
            for future in as_completed([pool.submit(_replay, arm) for arm in arms]):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class Bench:
    """Replays arms in one process, and caches its worlds."""

    def __init__(self, source: Source, choose: Chooser = choose_by_function) -> None:
        self.source = source
        self.choose = choose
        self.worlds: dict[str, Features] = {}
        torch.set_num_threads(1)

    def replay(self, arm: Arm) -> Curve:
        """Replay one arm in its world."""
        if arm.world not in self.worlds:
            self.worlds[arm.world] = self.source.features(arm.world)
        return replay(arm, self.source.plan, self.worlds[arm.world], self.choose)


_bench: list[Bench] = []


def _begin(source: Source, choose: Chooser) -> None:
    die_with_parent(signal.SIGKILL)  # finished arms are stored; an unfinished one is not needed
    _bench.append(Bench(source, choose))


def _replay(arm: Arm) -> Curve:
    return _bench[0].replay(arm)
