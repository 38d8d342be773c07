"""Reward functions for TRL's trainers, composed of terms that can be inspected. No torch."""

from prm.rewards.function import Mix, Parts, Reward
from prm.rewards.terms import Prover

__all__ = ["Mix", "Parts", "Prover", "Reward"]
