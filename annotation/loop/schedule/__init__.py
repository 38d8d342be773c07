"""When a round starts: schedule, new labels, drift, limits."""
