"""Latency and throughput of scores over HTTP, under load: dynamic batching beside one-by-one serving."""
