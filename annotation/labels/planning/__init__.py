"""Plans of more labels: their time, cost, quality, and what a model would gain."""
