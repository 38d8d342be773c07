"""Whether choosing pays: the live control arm and simulations."""
