"""How good the labels are, and how the work goes."""
