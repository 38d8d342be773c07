"""Side by side with Label Studio: the same work over HTTP, on one machine, one PostgreSQL, in one run."""
