"""Queries for the pages: each module reads the figures of one concern. Nothing here writes."""
