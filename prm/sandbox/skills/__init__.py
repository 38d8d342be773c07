"""The skills, one module per field; importing the package declares all of them."""

from prm.sandbox.skills import agents, algebra, arithmetic, programs

__all__ = ["agents", "algebra", "arithmetic", "programs"]
