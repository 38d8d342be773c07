"""Active learning replayed on labelled solutions, compared with a random draw."""
