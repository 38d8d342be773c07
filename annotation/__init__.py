"""The domain: projects, problems, solutions, labels, the queue and the loop."""
