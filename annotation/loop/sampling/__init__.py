"""Connect a policy: solutions sampled from an endpoint, graded, imported, scored, and queued for labelling."""
