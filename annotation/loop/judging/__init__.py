"""Judge solutions: labels by a language model, and Monte Carlo estimates of their prefixes, within a budget."""
