from typing import Any

import msgspec


class Measurement(msgspec.Struct, kw_only=True):
    """What a round measured of a version: of the holdout's solutions, those with a known first error.

    `champion` is the number of the one that served then. `thresholds` are by the name of a model, as are the reports
    (`prm.evaluation`) of the `challenger`, the zero-label `baseline` and the `rival`, which served. Without known
    solutions there are none.
    """

    holdout_solutions: int = 0
    champion: int | None = None
    thresholds: dict[str, float] = {}
    challenger: dict[str, Any] | None = None
    baseline: dict[str, Any] | None = None
    rival: dict[str, Any] | None = None
    measured_at: str = ""
