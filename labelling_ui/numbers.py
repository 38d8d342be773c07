"""Numbers as the reader's language writes them; in files and addresses they stay as programs write them."""

from datetime import date

from django.utils.formats import date_format, get_format, number_format


def decimal(value: float, digits: int = 0) -> str:
    """1234.56 with one digit -> 1,234.6 in English, 1.234,6 in German."""
    return number_format(f"{value:.{digits}f}", force_grouping=True)


def signed(value: float, digits: int = 0) -> str:
    """With its sign, a minus rather than a hyphen: +3.1, −3.1."""
    return ("−" if value < 0 else "+") + decimal(abs(value), digits)


def short(value: float, digits: int = 6) -> str:
    """As few digits as tell it, at most so many: 0.25, 3."""
    return number_format(f"{value:.{digits}g}")


def day_of_month(day: date) -> str:
    """21 Nov in English, 21. Nov. in German."""
    return date_format(day, get_format("DATE_FORMAT").removesuffix(" Y"))
