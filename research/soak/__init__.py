"""A soak test: a project works through generations while its processes are killed, and its invariants are checked."""
