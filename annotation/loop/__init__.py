"""The learning loop: schedule, rounds, selection, model registry, pool scores, proof and sampling."""
