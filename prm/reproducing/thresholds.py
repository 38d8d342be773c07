"""Rules for the first-error threshold on a set that the model did not learn from. numpy only.

"carried" is the threshold fitted with the model. "share" and "grades" need no labels. "share" flags as large a share of
the new set's solutions as of the model's own calibration solutions. "grades" flags the share that the final answers of
the new set suggest, with the answer noise of the set learned from. "labels" fits the threshold again on a few labelled
solutions of the new set. "labels' share" only counts their errors, and flags that share of the set.
"""

import numpy as np

from prm.calibration import fit_threshold, threshold_for_share
from prm.reproducing.sets import Array, LabelledSet, Places, first_below
from prm.threshold import Threshold

CARRIED, SHARE, GRADES, LABELS, LABELS_SHARE = "carried", "share", "grades", "labels", "labels' share"
LABELLED = (20, 50, 100)


def fit_on(labelled: LabelledSet, scores: Array, places: Places) -> Threshold:
    """The best threshold on the solutions at `places` whose steps all have scores."""
    rows = [row for row in places if not np.isnan(scores[row, : labelled.steps[row]]).any()]
    return fit_threshold(
        [scores[row, : labelled.steps[row]] for row in rows], [int(labelled.errors[row]) for row in rows]
    )


def flags_share(scores: Array, share: float) -> Threshold:
    """The threshold below which this share of the solutions [solutions, steps] has a step."""
    return threshold_for_share([row[~np.isnan(row)] for row in scores], share)


def share_flagged(scores: Array, thresholds: Array | float) -> float:
    """The share of solutions [solutions, steps] with a step below the threshold (of each solution)."""
    return float((first_below(scores, thresholds) >= 0).mean())


def from_labels(rule: str, labelled: LabelledSet, scores: Array, places: Places) -> Threshold:
    """The threshold by "labels" or "labels' share" from the labelled solutions at `places`."""
    if rule == LABELS:
        return fit_on(labelled, scores, places)
    wrong = int((labelled.errors[places] >= 0).sum())
    return flags_share(scores, (wrong + 1) / (len(places) + 2))
