"""Frozen datasets: snapshots, streamed exports, dataset cards."""
