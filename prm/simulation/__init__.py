"""Active learning replayed on solutions whose labels are known: what choosing buys over a random draw."""
