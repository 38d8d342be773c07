"""python -m research.choosers: ways to choose solutions that the platform does not have, replayed beside its own.

The harness is that of `prm simulate`; the same command resumes a stopped replay. Members are the heads under MASKS
dropout masks each, the same for every solution.

    bald_no_cost      `first_error_bald` without the division by its cost
    bald_flat         the same, drawn in proportion to the square of its gain instead of the fourth power
    bald_many         the same over many members
    epig_many         what a verdict reveals about whether solutions of the calibration part are right, over many
                      members (expected predictive information gain, Bickford Smith et al. 2023)
    badge             k-means++ on the gradients of the heads' last layers (Ash et al. 2020)
    ..._ungraded      a function of the platform that does not see the grades
"""

import argparse
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from prm.acquisition import UNKNOWN
from prm.acquisition.functions import (
    FUNCTIONS,
    Acquisition,
    acquisition,
    entropy_of,
    first_error_bald,
    random,
    verdicts,
)
from prm.acquisition.inclusion import SHARPNESS
from prm.heads import Heads
from prm.simulation.learning import AT_ONCE, Model
from prm.simulation.plan import Curve, arm_name
from prm.simulation.replay import Choice, choose_by_function
from prm.simulation.report import Yardstick, compare
from prm.simulation.running import Source, run_arms
from prm.simulation.words import table
from research.small_replays import add_options, plan_of

MASKS = 6
TARGETS = 200
MANY = ("bald_many", "epig_many")
HIDDEN = "_ungraded"
HIDDEN_FROM = ("balanced_errors", "convincing_wrong_answer")
Array = NDArray[np.float64]


def bald_flat(p: Array) -> Array:
    """`first_error_bald` to the power that the draw raises to its square."""
    return np.asarray(first_error_bald(p) ** (2 / SHARPNESS))


class Epig:
    """Expected predictive information gain; `targets` [targets, members] has p(no step is wrong) of each target."""

    targets: Array = np.ones((1, 1))

    def __call__(self, p: Array) -> Array:
        """The mean over targets of the mutual information of a verdict and of the target's being right, flat."""
        verdict, right = verdicts(p), self.targets
        marginal = verdict.mean(axis=-1)  # [..., verdicts]
        both = verdict @ right.T / p.shape[-1]  # [..., verdicts, targets]
        together = entropy_of(np.stack([both, marginal[..., None] - both]).clip(0, 1), 0).sum(axis=-2)
        of_target = entropy_of(np.stack([right.mean(axis=-1), 1 - right.mean(axis=-1)]), 0)
        information = entropy_of(marginal, -1)[..., None] + of_target - together
        return np.asarray(np.maximum(information.mean(axis=-1), 0) ** (2 / SHARPNESS))


EPIG = Epig()


def register() -> None:
    """Register the functions of this module, so that a plan may name them."""
    acquisition("bald_no_cost")(first_error_bald)
    acquisition("bald_flat")(bald_flat)
    acquisition("bald_many")(bald_flat)
    FUNCTIONS.add("epig_many", Acquisition(EPIG, "epig_many"), module=__name__)
    for name in ("badge", *(name + HIDDEN for name in HIDDEN_FROM)):
        acquisition(name)(random)  # only a name: `choose` chooses


def heads_of(model: Model) -> Heads:
    """The ensemble that judges steps."""
    assert isinstance(model.readout.heads, Heads)
    return model.readout.heads


@torch.no_grad()
def members(model: Model, rows: Tensor, seed: int) -> Array:
    """p(good) by each head under each mask, [steps, heads * MASKS]; masks are drawn from `seed`."""
    heads = heads_of(model)
    n, width, hidden = heads.enter.shape
    share = 1 - heads.dropout
    drawn = torch.Generator().manual_seed(seed)
    masks = [
        [(torch.rand(n, 1, size, generator=drawn) < share) / share for size in (width, hidden)] for _ in range(MASKS)
    ]
    parts = []
    for part in rows.split(AT_ONCE):
        standard = heads.standard(part)
        logits = []
        for first, second in masks:
            inner = nn.functional.gelu(torch.baddbmm(heads.enter_bias, standard * first, heads.enter)) * second
            logits.append(torch.baddbmm(heads.leave_bias, inner, heads.leave).squeeze(2))
        parts.append(torch.cat(logits))
    return torch.sigmoid(torch.cat(parts, dim=1).T.double() / model.temperature).numpy()


@torch.no_grad()
def gradients(model: Model, rows: Tensor, steps: NDArray[np.int64]) -> Array:
    """The gradients of the loss of each solution's most probable verdict, [solutions, heads * hidden].

    They are by the last layers of the heads. Steps after the verdict's first error are not read.
    """
    heads = heads_of(model)
    inner = torch.cat(
        [
            nn.functional.gelu(
                torch.baddbmm(heads.enter_bias, heads.standard(part).expand(len(heads.enter), -1, -1), heads.enter)
            )
            for part in rows.split(AT_ONCE)
        ],
        dim=1,
    )
    p = torch.sigmoid(torch.baddbmm(heads.leave_bias, inner, heads.leave).squeeze(2)).T.double().numpy()
    label = np.zeros(len(p))
    read = np.zeros(len(p), dtype=bool)
    begin = 0
    for n in steps.tolist():
        verdict = int(verdicts(p[begin : begin + n]).mean(axis=-1).argmax())
        label[begin : begin + verdict] = 1
        read[begin : begin + min(verdict + 1, n)] = True
        begin += n
    error = torch.from_numpy((p - label[:, None]) * read[:, None]).float().T  # [heads, steps]
    by_step = (error[:, :, None] * inner).permute(1, 0, 2).flatten(1)
    owner = torch.from_numpy(np.repeat(np.arange(len(steps)), steps))
    return torch.zeros(len(steps), by_step.shape[1]).index_add(0, owner, by_step).double().numpy()


def spread(points: Array, problem: NDArray[np.int64], n: int, rng: np.random.Generator) -> list[int]:
    """`n` rows by k-means++, one of a problem: the longest, then each by its squared distance from those before."""
    squares = (points**2).sum(axis=1)
    chosen = [int(squares.argmax())]
    nearest = squares - 2 * points @ points[chosen[0]] + squares[chosen[0]]
    while len(chosen) < n:
        weight = np.where(np.isin(problem, problem[chosen]), 0, np.maximum(nearest, 0))
        chosen.append(int(rng.choice(len(points), p=weight / weight.sum())))
        nearest = np.minimum(nearest, squares - 2 * points @ points[chosen[-1]] + squares[chosen[-1]])
    return chosen


def choose(choice: Choice) -> list[int]:
    """Choose by a function of this module or of the platform."""
    name, part = choice.function, choice.offering.part
    if name not in (*MANY, "badge") and not name.endswith(HIDDEN):
        return choose_by_function(choice)
    pool = choice.offering.scored(choice.left, choice.model)
    if name.endswith(HIDDEN):
        visible = replace(choice, function=name.removesuffix(HIDDEN))
        return visible.draw(replace(pool, correct=np.full_like(pool.correct, UNKNOWN)))
    rows, steps = part.rows_at(choice.left)
    if name == "badge":
        places = spread(gradients(choice.model, rows, steps), pool.problem, choice.budget, choice.rng)
        return [choice.left[place] for place in places]
    seed = int(choice.rng.integers(1 << 31))
    target = choice.features.calibration
    some = choice.rng.permutation(len(target.traces))[:TARGETS].tolist()
    target_rows, target_steps = target.rows_at(some)
    by_step = np.split(members(choice.model, target_rows, seed), np.cumsum(target_steps)[:-1])
    EPIG.targets = np.stack([p.prod(axis=0) for p in by_step])
    return choice.draw(replace(pool, p=members(choice.model, rows, seed)))


def say_arm(curve: Curve, done: int, of: int) -> None:
    """One line of a finished arm."""
    arm, f1 = curve.arm, ", ".join(f"{point.f1:.3f}" for point in curve.points)
    print(f"{done} of {of}: {arm.world}, {arm_name(arm.function, arm.graded)}, seed {arm.seed}: {f1}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="+")
    parser.add_argument("--graded", type=float, nargs="+", default=[0.0], help="weights of graded answers")
    add_options(parser, seeds=2, budgets=[30, 60, 120, 240], sizes=[2000, 300, 600], data_seed=2200)
    options = parser.parse_args()
    register()
    plan = plan_of(options, *options.functions, graded=tuple(options.graded))
    source = Source(plan, options.out / "cache")
    base = source.base_sha256()
    keys = {name: source.key(name, base) for name in plan.worlds}
    for name in plan.worlds:
        source.features(name)
    curves = run_arms(source, keys, options.out, processes=1, on_arm=say_arm, choose=choose)
    tests = {name: Yardstick.of(source.world(name).test) for name in plan.worlds}
    print(table(compare(plan, curves, tests, base_sha256=base)))


if __name__ == "__main__":
    main()
