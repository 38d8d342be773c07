"""Probes of a trained PRM and of the policy that it judges, one per module."""
