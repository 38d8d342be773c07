"""The quality of labels, the analysis of annotators, and statistics of the work."""
