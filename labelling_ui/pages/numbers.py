"""Numbers that forms and addresses give."""

LONGEST = 18  # digits: any such number fits a row's id


def whole_number(text: str | None) -> int | None:
    """The whole number from 0 on that a text is; None where it is something else, or longer than any that is meant.

    No row has the id 0: `or 0` finds none.
    """
    return int(text) if text and text.isdecimal() and len(text) <= LONGEST else None
