"""The skills, one module a field of work; importing the package declares them all."""

from prm.sandbox.skills import agent_bookings, agent_records, algebra, arithmetic, programs

__all__ = ["agent_bookings", "agent_records", "algebra", "arithmetic", "programs"]
