"""Periodic work on many projects: if one fails, the others are still done."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def for_each(things: Iterable[T], work: Callable[[T], int]) -> int:
    """Do the work for each of the things; returns the sum of what it returns.

    Raises ExceptionGroup after the last one, with every error and the name of what it was raised for.
    """
    done = 0
    errors = []
    for thing in things:
        try:
            done += work(thing)
        except Exception as error:
            error.add_note(f"In {thing}.")
            errors.append(error)
    if errors:
        raise ExceptionGroup(f"{len(errors)} failed; the others are done", errors)
    return done
