"""Compares Stepmark with Label Studio: the same work over HTTP, on one machine with one PostgreSQL, in one run."""
