"""The division of labour: what people, judges and both together cost, and how often they are right."""
