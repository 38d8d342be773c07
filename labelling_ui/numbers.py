"""Numbers in the reader's language. Files and addresses use plain numbers."""

from datetime import date

from django.utils.formats import date_format, get_format

from annotation.core.wording import write_number


def decimal(value: float, digits: int = 0) -> str:
    """1234.56 with one digit -> 1,234.6 in English, 1.234,6 in German."""
    return write_number(value, f",.{digits}f")


def signed(value: float, digits: int = 0) -> str:
    """The number with its sign: +3.1, −3.1."""
    return write_number(value, f"+,.{digits}f")


def percent(share: float, digits: int = 0) -> str:
    """0.4231 -> 42 %."""
    return write_number(share, f",.{digits}%")


def short(value: float, digits: int = 6) -> str:
    """The number with at most `digits` digits and no trailing zeros: 0.25, 3."""
    return write_number(value, f".{digits}g")


def rounded(value: int) -> int:
    """The number with its first two digits only: 80,312 -> 80,000."""
    return int(float(f"{value:.2g}"))


def day_of_month(day: date) -> str:
    """21 Nov in English, 21. Nov. in German."""
    return date_format(day, get_format("DATE_FORMAT").removesuffix(" Y"))
