"""A generated world of reasoning in which every step's correctness is known, for demos, tests and simulation."""

from prm.sandbox.world import WORLD_VERSION, WorldConfig, corpus, generate, generate_pools

__all__ = ["WORLD_VERSION", "WorldConfig", "corpus", "generate", "generate_pools"]
