"""The demo project: a generated world, simulated annotators, one finished round, and work waiting."""
