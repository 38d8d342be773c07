"""What a simulation's overview says at a glance."""

from prm.evaluation.metrics import Metric
from prm.simulation.plan import Plan
from prm.simulation.report import Comparison, Report, Saving
from prm.simulation.words import overview

PLAN = Plan(worlds=("sandbox", "skewed"), functions=("random", "entropy", "margin"), noises=(0.0, 0.1))


def compared(world: str, function: str, ratio: Metric, *, never: float = 0.0, noise: float = 0.0) -> Comparison:
    saved = Saving(mean=ratio, at_end=ratio, never=never, ends_short=never > 0)
    return Comparison(
        world=world,
        noise=noise,
        function=function,
        graded=0.0,
        seeds=[0],
        x={"steps": [1.0]},
        f1=[ratio],
        erroneous=[1.0],
        area_gain={},
        better=0,
        saving={"solutions": saved},
        choosing=saved,
    )


def test_bold_is_better_than_random_slanted_is_worse_and_plain_is_neither():
    found = [
        compared("sandbox", "entropy", Metric(2.0, 1.01, 3.0)),
        compared("skewed", "entropy", Metric(0.5, 0.4, 0.99), never=0.5),
        compared("sandbox", "margin", Metric(1.1, 0.9, 1.3)),
        compared("skewed", "margin", Metric(None, None, None)),
        compared("sandbox", "entropy", Metric(1.5, 1.2, 1.8), noise=0.1),
    ]
    report = Report(plan=PLAN, base_sha256="", arms=5, cost_seconds=1.0, bootstrap=10, comparisons=found)
    lines = overview(report).splitlines()
    assert "| entropy | **2.00x** | _≤ 0.50x_ |" in lines
    assert "| margin | 1.10x | - |" in lines
    noisy = lines.index("### Fewer solutions, 10\xa0% wrong verdicts")
    assert lines[noisy + 4] == "| entropy | **1.50x** | - |"
