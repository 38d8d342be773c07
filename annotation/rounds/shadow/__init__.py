"""Does active learning pay here? Acquisition against control on equal time, and what chosen labels say of the pool."""
