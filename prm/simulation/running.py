"""Runs arms in a few processes and stores finished ones, so that a stopped simulation resumes."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import msgspec
import torch

from prm.jsonl import read_records, write_records
from prm.parents import die_with_parent
from prm.simulation.learning import Features
from prm.simulation.plan import Arm
from prm.simulation.points import Curve
from prm.simulation.replay import replay
from prm.simulation.source import Source

ARMS_FILE = "arms.jsonl"
Heard = Callable[[Curve, int, int], None]  # a finished arm, how many are, of how many


class Line(msgspec.Struct):
    """One finished arm, and the key that it was computed under."""

    key: str
    curve: Curve


def run_arms(source: Source, keys: dict[str, str], folder: Path, *, processes: int, heard: Heard) -> list[Curve]:
    """Every arm of the plan in its order, from the folder where it was finished before.

    `keys` has each world's (`Source.key`). The features of every world should lie in the cache.
    """
    path = folder / ARMS_FILE
    lines = _lines(path)
    arms = list(source.plan.arms())
    done = {curve.arm: curve for curve in finished_arms(source, keys, folder)}
    for curve in _replayed([arm for arm in arms if arm not in done], source, processes):
        lines.append(Line(keys[curve.arm.world], curve))
        write_records(path, lines)
        done[curve.arm] = curve
        heard(curve, sum(arm in done for arm in arms), len(arms))
    return [done[arm] for arm in arms]


def finished_arms(source: Source, keys: dict[str, str], folder: Path) -> list[Curve]:
    """The arms of the plan that a folder has, computed under these keys."""
    wanted = set(source.plan.arms())
    return [
        line.curve
        for line in _lines(folder / ARMS_FILE)
        if line.curve.arm in wanted and keys.get(line.curve.arm.world) == line.key
    ]


def _lines(path: Path) -> list[Line]:
    return list(read_records(path, Line)) if path.exists() else []


def _replayed(arms: list[Arm], source: Source, processes: int) -> Iterator[Curve]:
    if processes == 1 or len(arms) < 2:
        bench = Bench(source)
        yield from map(bench.replay, arms)
        return
    context = multiprocessing.get_context("spawn")  # a process forked from one that has used torch may hang
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=(source,)) as pool:
        try:
            for future in as_completed([pool.submit(_replay, arm) for arm in arms]):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class Bench:
    """The worlds that one process has at hand."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.worlds: dict[str, Features] = {}
        torch.set_num_threads(1)

    def replay(self, arm: Arm) -> Curve:
        """Replay one arm in its world."""
        if arm.world not in self.worlds:
            self.worlds[arm.world] = self.source.features(arm.world)
        return replay(arm, self.source.plan, self.worlds[arm.world])


_bench: list[Bench] = []


def _begin(source: Source) -> None:
    die_with_parent(signal.SIGKILL)  # it keeps what is finished; an arm that nobody waits for is not worth its end
    _bench.append(Bench(source))


def _replay(arm: Arm) -> Curve:
    return _bench[0].replay(arm)
