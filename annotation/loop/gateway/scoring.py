"""Scores solutions, with a model or with the zero-label baseline."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annotation.core import storage
from annotation.core.errors import DomainError
from annotation.core.membership.backbones import check_backbone
from annotation.loop.gateway.traces import trace_of
from annotation.loop.gateway.training import model_key
from annotation.models import ModelVersion, PoolScore, ProjectPolicy, Solution
from prm.acquisition import CostModel, expected_cost, first_error_bald
from prm.calibration import fit_threshold_on
from prm.errors import DataError, PRMError
from prm.formats.trace_files import read_traces
from prm.labels import first_error
from prm.scores import write_scores
from prm.threshold import UNFITTED, Threshold

if TYPE_CHECKING:
    from prm.scoring import Scorer

_LOADING = Lock()  # keeps two threads from loading the same model
Beat = Callable[[], None]  # called during scoring, also within a long batch


def loaded_scorer(version: ModelVersion) -> "Scorer":
    """The scorer of a version; pool scoring and serving share one in each process."""
    return _scorer(storage.path_of(model_key(version)), version.manifest["base"])


def _scorer(model: Path | None, backbone: str) -> "Scorer":
    from prm.processes import use_half_the_cores

    if model is None:
        check_backbone(backbone)
    use_half_the_cores()
    with _LOADING:
        return _loaded(model, backbone)


@lru_cache(maxsize=3)
def _loaded(model: Path | None, backbone: str) -> "Scorer":
    """A loaded scorer, None for the baseline. The weights in a folder never change, so it can be the cache key."""
    from prm.scoring import Scorer

    try:
        return Scorer.for_base(backbone) if model is None else Scorer.load(storage.fetch_path(model))
    except PRMError as error:
        raise DomainError(error.args[0], code="model_unusable") from error


def score_file(model: Path | None, policy: ProjectPolicy, data: Path, out: Path, *, on_batch: Beat) -> None:
    """Score the traces of `data` into `out` with a model, or with the zero-label baseline (None)."""
    scorer = _scorer(model, policy.backbone)
    write_scores(out, scorer.score(read_traces(data), on_progress=lambda total: on_batch()))


def threshold_of(model: Path | None, policy: ProjectPolicy, *, fitted_on: Path, on_batch: Beat) -> Threshold:
    """The threshold below which a step is an error: the model's; for the baseline, the best on the training labels."""
    scorer = _scorer(model, policy.backbone)
    if model is not None:
        return scorer.threshold
    settled = [trace for trace in read_traces(fitted_on) if first_error(trace) is not None]
    try:
        return fit_threshold_on(settled, scorer.score(settled, on_progress=lambda total: on_batch()))
    except DataError:  # only correct or only erroneous solutions
        return UNFITTED


def score_without_labels(
    backbone: str, solutions: Sequence[Solution]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """For each solution, the zero-label score and the characters of each scored step; needs `problem` and `steps`.

    Raises DomainError (`model_unusable`).
    """
    for solution, score in zip(solutions, _scorer(None, backbone).score(map(trace_of, solutions)), strict=True):
        steps = zip(score.mean, solution.sampled_steps, strict=True)
        scored = [(p, len(step.text)) for p, step in steps if p is not None]
        yield np.array([p for p, _ in scored], dtype=float), np.array([n for _, n in scored], dtype=np.int64)


def score_pool(version: ModelVersion, solutions: Sequence[Solution], cost: CostModel) -> list[PoolScore]:
    """Unsaved rows with what ranking needs of each solution; needs `problem` and `steps`.

    Solutions of one problem should be adjacent, because they share its computation.
    """
    scores = loaded_scorer(version).score(map(trace_of, solutions), embed=True)
    rows = []
    for solution, score in zip(solutions, scores, strict=True):
        heads = np.array([row for row in score.heads if row is not None], dtype=np.float64)  # [scored steps, heads]
        chars = [len(step.text) for step in solution.sampled_steps]
        rows.append(
            PoolScore(
                model_version=version,
                solution=solution,
                mean=score.mean,
                spread=score.spread,
                score=score.solution,
                heads=heads.astype("<f2").tobytes(),
                embedding=np.array(score.embedding or [], dtype="<f2").tobytes(),
                gain=float(first_error_bald(heads)) if len(heads) else None,
                expected_seconds=float(expected_cost(heads, chars, cost)),
                unscored_steps=score.unscored,
            )
        )
    return rows


def tolerance(version: ModelVersion) -> float:
    """How far two computations of a score may differ, by rounding to float16 and by the precision of the backbone."""
    import torch

    return 2e-3 if loaded_scorer(version).backbone.compute == torch.float32 else 5e-2
