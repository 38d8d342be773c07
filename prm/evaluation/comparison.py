"""One model against another on the same labels, paired by problem. numpy only."""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from prm.errors import DataError
from prm.evaluation.columns import columns_of
from prm.evaluation.report import processbench
from prm.evaluation.resampling import as_metric, draws_of
from prm.messages import Message
from prm.scores import TraceScore
from prm.traces import Trace

KEPT_SAMPLES = 200  # of the resampled gains, enough for a picture


class Comparison(msgspec.Struct, frozen=True):
    """Challenger minus champion in ProcessBench F1 on the same solutions, resampled together; `low` and
    `high` are None where no resample tells."""

    gain: float
    low: float | None
    high: float | None
    challenger: float
    champion: float
    n_solutions: int
    n_problems: int
    samples: list[float]


def compare(
    traces: Sequence[Trace],
    challenger_scores: Iterable[TraceScore],
    champion_scores: Iterable[TraceScore],
    *,
    thresholds: tuple[float, float],
    bootstrap: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Paired comparison in ProcessBench F1; `thresholds` are the challenger's and the champion's.

    Raises DataError where no domain has both erroneous and correct solutions with a known first error.
    """
    challenger, _ = columns_of(traces, challenger_scores, thresholds[0])
    champion, _ = columns_of(traces, champion_scores, thresholds[1])
    draws = draws_of(challenger.n_problems, bootstrap, seed)
    ours, theirs = (processbench(one, draws)["processbench_f1"] for one in (challenger, champion))
    if np.isnan(ours[0]):
        raise DataError(Message("comparison_needs_both_kinds"))
    gains = ours - theirs
    gain = as_metric(gains)
    drawn = gains[1:][~np.isnan(gains[1:])]
    return Comparison(
        gain=float(gains[0]),
        low=gain.low,
        high=gain.high,
        challenger=float(ours[0]),
        champion=float(theirs[0]),
        n_solutions=int(challenger.settled.sum()),
        n_problems=challenger.n_problems,
        samples=[round(float(one), 6) for one in drawn[:KEPT_SAMPLES]],
    )
