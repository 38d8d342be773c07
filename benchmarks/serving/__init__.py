"""Measures latency and throughput of scoring over HTTP under load: dynamic batching against one request at a time."""
