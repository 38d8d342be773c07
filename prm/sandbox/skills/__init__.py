"""The skills, one module a field of work; importing the package declares them all."""

from prm.sandbox.skills import agents, algebra, arithmetic, programs

__all__ = ["agents", "algebra", "arithmetic", "programs"]
