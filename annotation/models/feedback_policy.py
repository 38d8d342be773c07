import msgspec


class FeedbackPolicy(msgspec.Struct, forbid_unknown_fields=True):
    """What people are told of how well they label, on the page of their own work.

    `gold`: their share of right answers on hidden gold, told so that nobody learns which solution was gold. `peers`:
    how often they name the same first error as others who labelled the same solution.
    """

    gold: bool = True
    peers: bool = True
