"""Scores the steps of one set by what was learned from another: heads on a backbone, or scores without a model."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import numpy as np

from prm.backbones import Backbone, load_configured, prepare_tuning
from prm.config import TrainConfig
from prm.features import STATISTICS, row_offsets
from prm.reproducing.sets import Array, LabelledSet, Places
from prm.reproducing.thresholds import fit_on, share_flagged
from prm.simulation.learning import Features, Model, Part, learn
from prm.threshold import Threshold
from prm.training.caches import Cache
from prm.training.distributed import ALONE
from prm.training.inputs import Reader, encode_cached
from prm.training.memory import Budget
from prm.trust import AbstentionBar, fit_abstention, verdict

FOLDS = 3
CALIBRATION_FOLDS = 5  # one of them fits temperature and threshold


@dataclass(frozen=True)
class Scores:
    """Scores of a set's steps [solutions, steps], lower for likelier errors.

    `carried` [solutions] are the thresholds fitted on the labels that the judge learned from, and `share` is the share
    of those solutions that they flag. `heads` [solutions, steps, heads] and `bar`, the abstention limit fitted there,
    are None for a score without heads.
    """

    steps: Array
    carried: Array
    share: float
    heads: Array | None = None
    bar: AbstentionBar | None = None


Judge = Callable[[LabelledSet, LabelledSet, int], Scores]  # the set to learn from, the set to score, a seed


def simple_judge(scores_of: Callable[[LabelledSet], Array]) -> Judge:
    """A score in (0, 1] without training; only its threshold is learned, in its own set on the other folds."""

    def judge(source: LabelledSet, target: LabelledSet, seed: int) -> Scores:
        steps, taught = scores_of(target), scores_of(source)
        if source is not target:
            threshold = fit_on(source, taught, np.arange(len(source.traces)))
            return Scores(steps, target.thresholds(threshold), share_flagged(taught, source.thresholds(threshold)))
        carried = np.zeros(len(steps))
        for fold in source.folds(FOLDS, seed):
            threshold = fit_on(source, taught, np.setdiff1d(np.arange(len(steps)), fold))
            carried[fold] = source.thresholds(threshold)[fold]
        return Scores(steps, carried, share_flagged(taught, carried))

    return judge


SIMPLE = {
    "position alone": simple_judge(lambda labelled: 1 / (1 + labelled.index)),
    "length alone": simple_judge(lambda labelled: 1 / (1 + labelled.chars)),
}  # judges without a model


class HeadsJudge:
    """Heads on a frozen backbone with the library's own training; features are read once and cached."""

    def __init__(
        self,
        base: str,
        config: TrainConfig,
        cache: Cache,
        say: Callable[[str], None],
        on_progress: Callable[[str], None],
    ) -> None:
        self.config = msgspec.structs.replace(config, base=base)
        self.backbone = _load(self.config)
        self.cache, self.say, self.on_progress = cache, say, on_progress
        self.parts: dict[str, Part] = {}
        self.learned: dict[tuple[str, int, bytes], _Learned] = {}

    def read(self, labelled: LabelledSet) -> Part:
        """The features of a set's steps."""
        if labelled.name not in self.parts:
            backbone, config = self.backbone, self.config
            task = f"{config.base}: reading {labelled.name}"

            def on_progress(done: int, of: int) -> None:
                self.on_progress(f"{task}: {done} of {of} solutions")

            self.say(f"{task}, {len(labelled.traces)} solutions")
            encoded = encode_cached(labelled.traces, backbone, self.cache, lambda done, of: None)
            budget = Budget("reading", config.token_budget, lambda message: None)
            reader = Reader(backbone, config.features, self.cache, ALONE, budget, lambda lengths: None, on_progress)
            self.parts[labelled.name] = Part(labelled.traces, encoded, reader.read(encoded), row_offsets(encoded))
        return self.parts[labelled.name]

    def likelihood(self, labelled: LabelledSet) -> Array:
        """The geometric mean of the probabilities of each step's tokens, [solutions, steps]."""
        part = self.read(labelled)
        column = part.rows.shape[1] - len(STATISTICS) + STATISTICS.index("surprisal_mean")
        return np.exp(-labelled.in_rows(part.rows[:, column].numpy(), np.diff(part.offsets)))

    def __call__(self, source: LabelledSet, target: LabelledSet, seed: int) -> Scores:
        everything = np.arange(len(target.traces))
        if source is not target:
            return self._score(self._learn(source, np.arange(len(source.traces)), seed), target, everything)
        parts = []
        for fold in target.folds(FOLDS, seed):
            learned = self._learn(source, np.setdiff1d(everything, fold), seed)
            parts.append((fold, self._score(learned, target, fold)))
        return _joined(parts)

    def _learn(self, source: LabelledSet, places: Places, seed: int) -> "_Learned":
        key = (source.name, seed, places.tobytes())
        if key not in self.learned:
            self.say(f"{self.config.base}: learning from {len(places)} solutions of {source.name}, seed {seed}")
            part = self.read(source)
            (held, *_) = source.folds(CALIBRATION_FOLDS, seed + 1)
            fit, held = np.setdiff1d(places, held), np.intersect1d(places, held)
            taught = [msgspec.structs.replace(part.traces[place], split="pool") for place in fit]
            features = Features(part, _cut(part, held), _cut(part, held))
            model = learn(taught, fit.tolist(), features, msgspec.structs.replace(self.config, seed=seed))
            steps, heads = self._apply(model, source)
            thresholds = source.thresholds(model.threshold)
            doubt, right = verdicts(source, steps, heads, thresholds, held)
            self.learned[key] = _Learned(
                model,
                share_flagged(steps[held], thresholds[held]),
                fit_abstention(doubt, right, target=self.config.verdict_accuracy),
            )
        return self.learned[key]

    def _apply(self, model: Model, target: LabelledSet) -> tuple[Array, Array]:
        """The mean p(good) [solutions, steps] and that of each head [solutions, steps, heads]."""
        part = self.read(target)
        p, counts = model.heads(part.rows), np.diff(part.offsets)
        return target.in_rows(p.mean(axis=1), counts), np.stack([target.in_rows(head, counts) for head in p.T], axis=2)

    def _score(self, learned: "_Learned", target: LabelledSet, places: Places) -> Scores:
        steps, heads = self._apply(learned.model, target)
        carried = target.thresholds(learned.model.threshold)[places]
        return Scores(steps[places], carried, learned.share, heads[places], learned.bar)


@dataclass(frozen=True)
class _Learned:
    model: Model
    share: float
    bar: AbstentionBar | None


def verdicts(
    target: LabelledSet, steps: Array, heads: Array, thresholds: Array, places: Places
) -> tuple[list[float], list[bool]]:
    """The uncertainty of each verdict on the solutions at `places`, and whether it is right.

    A solution with an unscored step has an infinite uncertainty.
    """
    doubts, right = [], []
    for row in places:
        n = target.steps[row]
        if np.isnan(steps[row, :n]).any():
            predicted, doubt = None, None
        else:
            predicted, doubt = verdict(
                heads[row, :n].tolist(), steps[row, :n].tolist(), Threshold(float(thresholds[row]))
            )
        doubts.append(float("inf") if doubt is None else doubt)
        right.append(predicted == target.errors[row])
    return doubts, right


def _load(config: TrainConfig) -> Backbone:
    """The frozen backbone as a training run of the heads lane uses it."""
    backbone = load_configured(config)
    assert backbone.sha256  # read before the weights' type changes
    prepare_tuning(backbone, config)
    return backbone


def _cut(part: Part, places: Places) -> Part:
    rows, steps = part.rows_at(places.tolist())
    chosen = [part.encoded[place] for place in places]
    return Part([part.traces[place] for place in places], chosen, rows, [0, *np.cumsum(steps).tolist()])


def _joined(parts: list[tuple[Places, Scores]]) -> Scores:
    """The scores of folds in the order of the set; without an abstention limit, since each fold has its own."""
    order = np.argsort(np.concatenate([fold for fold, _ in parts]))
    return Scores(
        np.concatenate([one.steps for _, one in parts])[order],
        np.concatenate([one.carried for _, one in parts])[order],
        float(np.mean([one.share for _, one in parts])),
        np.concatenate([one.heads for _, one in parts if one.heads is not None])[order],
    )
