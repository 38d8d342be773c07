"""The work that is done, and its division: what people, judges and both together cost, and how often they are right."""
