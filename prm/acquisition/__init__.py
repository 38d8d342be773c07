"""Selects what to label next: a stochastic draw of candidates with exact inclusion probabilities. numpy only."""

from prm.acquisition import stopping
from prm.acquisition.candidates import UNKNOWN, Candidate, Pool, Selected
from prm.acquisition.costs import CostModel, expected_cost, fit_cost
from prm.acquisition.drawing import draw, draw_nested
from prm.acquisition.functions import FUNCTIONS, Acquisition, acquisition, first_error_bald
from prm.acquisition.inclusion import Caps, even_probabilities, inclusion_probabilities, least_cap
from prm.acquisition.ranking import Ranking, rank, rank_pool

__all__ = [
    "FUNCTIONS",
    "UNKNOWN",
    "Acquisition",
    "Candidate",
    "Caps",
    "CostModel",
    "Pool",
    "Ranking",
    "Selected",
    "acquisition",
    "draw",
    "draw_nested",
    "even_probabilities",
    "expected_cost",
    "first_error_bald",
    "fit_cost",
    "inclusion_probabilities",
    "least_cap",
    "rank",
    "rank_pool",
    "stopping",
]
