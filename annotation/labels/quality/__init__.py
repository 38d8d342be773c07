"""The quality of labels, the effects of hints, review, and statistics of the work."""
