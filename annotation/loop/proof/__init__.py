"""Whether acquisition pays: the live control arm, and simulations."""
