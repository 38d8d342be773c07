"""Rewards for training a policy: functions that TRL's trainers take, made of terms that can be looked at. No torch."""

from prm.rewards.function import Mix, Parts, Reward
from prm.rewards.terms import Prover

__all__ = ["Mix", "Parts", "Prover", "Reward"]
