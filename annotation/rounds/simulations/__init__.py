"""Simulations on a project's own labels: asked for, watched, called off and taken up again."""
