import msgspec
import numpy as np

from annotation.labels.consensus.mace import estimate
from prm.consensus import CONSENSUS, Evidence, Vote
from research.consensus import simulate


def test_competence_is_told_from_guessing():
    skills = {"a": 0.9, "b": 0.8, "c": 0.7, "x": 0.0}  # the last rates every step good
    _, votes = simulate(np.random.default_rng(0), steps=300, skills=skills)
    found = estimate(Evidence(votes))
    assert all(found.reliability(name).value > 0.3 for name in "abc")
    assert found.reliability("x").value < 0.1
    again = CONSENSUS.get("mace").restore(msgspec.json.decode(msgspec.json.encode(found.parameters)))
    mine = [Vote("s", 0, "a", -1), Vote("s", 0, "x", 1)]
    assert again.posteriors(mine) == found.posteriors(mine)
    assert found.posteriors(mine)["s", 0, 0].bad > 0.8


def test_nothing_is_fitted_where_nobody_shares_a_step():
    assert estimate(Evidence([Vote(step, 0, "a", 1) for step in range(5)])) is None
