"""Reports on finished arms: functions compared with random, with intervals over seeds and problems. numpy only."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Literal, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from prm.evaluation.metrics import Metric, as_metric, divide, draws_of, harmonic_mean
from prm.labels import first_error, problem_of
from prm.simulation.plan import RANDOM, Arm, Curve, Plan
from prm.traces import Trace

Array = NDArray[np.float64]
Hits = NDArray[np.bool_]


class Yardstick(msgspec.Struct, frozen=True):
    """A test set: for each solution, the numbers of its problem and domain, and whether it has an error."""

    problem: list[int]
    domain: list[int]
    erroneous: list[bool]

    @classmethod
    def of(cls, traces: Sequence[Trace]) -> "Yardstick":
        """The test set of these solutions."""
        problem = np.unique([problem_of(trace) for trace in traces], return_inverse=True)[1]
        domain = np.unique([trace.domain for trace in traces], return_inverse=True)[1]
        return cls(problem.tolist(), domain.tolist(), [first_error(trace) != -1 for trace in traces])

    def f1(self, hits: Hits, weights: Array) -> Array:
        """`hits` [..., solutions] and `weights` [draws, solutions] to F1, averaged over domains: [..., draws].

        A domain without erroneous or without right solutions in a draw does not count in that draw.
        """
        domain, erroneous = np.array(self.domain), np.array(self.erroneous)
        scores = []
        for name in np.unique(domain):
            accuracies = []
            for kind in (True, False):
                mask = (domain == name) & (erroneous == kind)
                part = weights[:, mask]
                accuracies.append(divide(hits[..., mask].astype(float) @ part.T, part.sum(axis=1)))
            scores.append(harmonic_mean(*accuracies))
        stacked = np.stack(scores)
        return np.asarray(divide(np.nansum(stacked, axis=0), (~np.isnan(stacked)).sum(axis=0)))


def pack_hits(hits: Hits) -> str:
    """Hits [solutions] as hexadecimal bits."""
    return np.packbits(hits).tobytes().hex()


def unpack_hits(text: str, n: int) -> Hits:
    """The hits of n solutions from `pack_hits`."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8))[:n].astype(bool)


def rising(y: Array) -> Array:
    """The nearest non-decreasing curve by squared distance: pool adjacent violators (Ayer et al. 1955)."""
    blocks: list[tuple[float, int]] = []
    for value in y:
        mean, size = float(value), 1
        while blocks and blocks[-1][0] >= mean:
            before, length = blocks.pop()
            mean, size = (mean * size + before * length) / (size + length), size + length
        blocks.append((mean, size))
    return np.array([mean for mean, size in blocks for _ in range(size)])


def mean_height(x: Array, y: Array, low: float, high: float) -> float:
    """The mean of the piecewise linear curve through the points from `low` to `high`."""
    inner = x[(x > low) & (x < high)]
    at = np.concatenate([[low], inner, [high]])
    return float(np.trapezoid(np.interp(at, x, y), at) / (high - low))


def needed(x: Array, y: Array, level: float) -> float:
    """The x at which a rising curve first reaches `level`, linear in ln x between points; inf if it never does.

    At or below the first point's level it is that point's x.
    """
    if level > y[-1]:
        return float("inf")
    after = int(np.searchsorted(y, level))
    if after == 0:
        return float(x[0])
    share = (level - y[after - 1]) / (y[after] - y[after - 1])
    return float(np.exp(np.log(x[after - 1]) + share * np.log(x[after] / x[after - 1])))


def saving(base: tuple[Array, Array], other: tuple[Array, Array], shares: Array) -> tuple[Array, Array]:
    """The ratio of x that the base and the other curve need for equal quality, at each of several levels.

    Curves are (x, y). The levels are at these `shares` of the way from the base's first quality to its last, on rising
    curves. If the other curve never reaches a level, the ratio is that at its last x, an upper bound, and the second
    array [levels] is True.
    """
    (x_base, y_base), (x, y) = base, other
    y_base, y = rising(y_base), rising(y)
    levels = y_base[0] + shares * (y_base[-1] - y_base[0])
    levels = np.minimum(levels, y_base[-1])
    needs = np.array([needed(x, y, level) for level in levels])
    never = np.isinf(needs)
    ratios = np.array([needed(x_base, y_base, level) for level in levels]) / np.where(never, x[-1], needs)
    return ratios, never


Axis = Literal["solutions", "steps", "seconds"]
AXES: tuple[Axis, ...] = get_args(Axis)
SHARES = np.linspace(0.5, 1.0, 6)  # compared levels of quality, as shares of random's improvement


class Saving(msgspec.Struct, frozen=True):
    """The ratio of cost of random to that of the function: `mean` is geometric over SHARES, `at_end` at the last level.

    `never` is the share of levels that were not reached, where the ratio is an upper bound; `ends_short` says that the
    last level is among them.
    """

    mean: Metric
    at_end: Metric
    never: float
    ends_short: bool


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One function in one world: `f1` at each budget, and `x`, the mean solutions, steps or seconds there.

    Compared with random without graded answers, paired by seed: `area_gain` is the difference of mean F1 along an axis,
    and `better` counts seeds with a higher mean F1 by solutions. `choosing` compares the solutions with those of random
    with the same weight of graded answers, that is, at an equal training signal.
    """

    world: str
    noise: float
    function: str
    graded: float
    seeds: list[int]
    x: dict[str, list[float]]
    f1: list[Metric]
    erroneous: list[float]
    area_gain: dict[str, Metric]
    better: int | None
    saving: dict[str, Saving]
    choosing: Saving | None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The comparisons of a plan. `cost_seconds` is the time of all arms together; `base_sha256` is the backbone's."""

    plan: Plan
    base_sha256: str
    arms: int
    cost_seconds: float
    bootstrap: int
    comparisons: list[Comparison]


def compare(
    plan: Plan,
    curves: Iterable[Curve],
    tests: dict[str, Yardstick],
    *,
    base_sha256: str,
    bootstrap: int = 1000,
) -> Report:
    """Compare every function with random in every world and noise, on the seeds that both have finished."""
    curves = list(curves)
    by_arm = {curve.arm: curve for curve in curves}
    comparisons = []
    for world in plan.worlds:
        for noise in plan.noises:
            group = {
                key: {arm.seed: c for arm, c in by_arm.items() if arm[:4] == (world, noise, *key)}
                for key in product(plan.functions, plan.graded)
            }
            base = group[RANDOM, 0.0]
            for (_, graded), own in group.items():
                alike = group[RANDOM, graded]
                seeds = sorted(own.keys() & base.keys() & alike.keys())
                if seeds:
                    taken = [[each[seed] for seed in seeds] for each in (base, alike, own)]
                    comparisons.append(_comparison(taken[0], taken[1], taken[2], tests[world], bootstrap))
    return Report(
        plan=plan,
        base_sha256=base_sha256,
        arms=len(curves),
        cost_seconds=round(sum(curve.wall_seconds for curve in curves), 1),
        bootstrap=bootstrap,
        comparisons=comparisons,
    )


def is_base(arm: Arm | Comparison) -> bool:
    """Whether this is the arm that all others are compared with: random, without graded answers."""
    return (arm.function, arm.graded) == (RANDOM, 0.0)


def _comparison(
    base: Sequence[Curve], alike: Sequence[Curve], own: Sequence[Curve], test: Yardstick, bootstrap: int
) -> Comparison:
    """Compare an arm with random, and with random that learns `alike`.

    Each draw resamples seeds and test problems, the same for all.
    """
    arm = own[0].arm
    problem = np.array(test.problem)
    weights = draws_of(int(problem.max()) + 1, bootstrap, 0)[:, problem].astype(float)
    seeds = draws_of(len(own), bootstrap, 1).astype(float) / len(own)  # [draws, seeds]
    y_base, y_alike, y = (np.einsum("sbd,ds->db", _f1(curves, test, weights), seeds) for curves in (base, alike, own))
    x_base, x_alike, x = ({axis: seeds @ _along(curves, axis) for axis in AXES} for curves in (base, alike, own))
    gains: dict[str, Metric] = {}
    savings: dict[str, Saving] = {}
    for axis in AXES:
        if is_base(arm):
            break
        gains[axis] = as_metric(
            np.array([_area_gain(*pair) for pair in zip(x_base[axis], y_base, x[axis], y, strict=True)])
        )
        savings[axis] = _saving(x_base[axis], y_base, x[axis], y)
    chooses = arm.function != RANDOM
    return Comparison(
        world=arm.world,
        noise=arm.noise,
        function=arm.function,
        graded=arm.graded,
        seeds=[curve.arm.seed for curve in own],
        x={axis: [round(float(v), 1) for v in x[axis][0]] for axis in AXES},
        f1=[as_metric(column) for column in y.T],
        erroneous=[round(float(v), 1) for v in np.mean([[p.erroneous for p in c.points] for c in own], axis=0)],
        area_gain=gains,
        better=None if is_base(arm) else _better(base, own),
        saving=savings,
        choosing=_saving(x_alike["solutions"], y_alike, x["solutions"], y) if chooses else None,
    )


def _saving(x_base: Array, y_base: Array, x: Array, y: Array) -> Saving:
    """The saving between two curves in every draw, [draws, budgets] each; the first draw has all data."""
    pairs = zip(x_base, y_base, x, y, strict=True)
    ratios, never = zip(*(saving((a, b), (c, d), SHARES) for a, b, c, d in pairs), strict=True)
    logs = np.log(np.array(ratios))
    return Saving(
        mean=as_metric(np.exp(logs.mean(axis=1))),
        at_end=as_metric(np.exp(logs[:, -1])),
        never=float(never[0].mean()),
        ends_short=bool(never[0][-1]),
    )


def _area_gain(x_base: Array, y_base: Array, x: Array, y: Array) -> float:
    """The difference of mean heights over the range that both curves cover."""
    low, high = max(x_base[0], x[0]), min(x_base[-1], x[-1])
    return mean_height(x, y, low, high) - mean_height(x_base, y_base, low, high)


def _better(base: Sequence[Curve], own: Sequence[Curve]) -> int:
    def points(curve: Curve) -> tuple[Array, Array]:
        return np.array([p.solutions for p in curve.points], dtype=float), np.array([p.f1 for p in curve.points])

    return sum(_area_gain(*points(a), *points(b)) > 0 for a, b in zip(base, own, strict=True))


def _along(curves: Sequence[Curve], axis: Axis) -> Array:
    """[seeds, budgets]"""
    return np.array([[getattr(point, axis) for point in curve.points] for curve in curves], dtype=float)


def _f1(curves: Sequence[Curve], test: Yardstick, weights: Array) -> Array:
    """[seeds, budgets, draws]"""
    n = len(test.problem)
    return test.f1(np.array([[unpack_hits(p.hits, n) for p in curve.points] for curve in curves]), weights)
