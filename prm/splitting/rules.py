"""Rules that split a text into steps, never inside mathematics, an environment or a code fence.

Only white space between steps is lost: joined again, the steps are the text.
"""

from collections.abc import Callable

from prm.splitting.automatic import automatic
from prm.splitting.cutting import BLANK_LINE, HEADING, LINE, NUMBER, STEP_MARK, Text
from prm.splitting.protection import Span


def split_by(rule: str, text: str) -> list[str]:
    """The steps of a text by one of RULES; empty for a blank text. Raises KeyError for an unknown rule."""
    steps = [text[start:end] for start, end in RULES[rule](Text(text))]
    return [step for step in steps if step.strip()]


def _blank_lines(whole: Text) -> list[Span]:
    return whole.cut(BLANK_LINE)


def _lines(whole: Text) -> list[Span]:
    """One step a line with its indentation, as in code."""
    pieces = []
    for start, end in whole.cut(LINE):
        line = whole.text.rfind("\n", 0, start) + 1
        pieces.append((line if not whole.text[line:start].strip() else start, end))
    return pieces


def _numbered(whole: Text) -> list[Span]:
    """At "Step 3", else at headings, else at "3." or "(3)"; by blank lines where none stands twice."""
    for mark in (STEP_MARK, HEADING, NUMBER):
        if len(whole.places(mark)) > 1:
            return whole.cut(mark)
    return _blank_lines(whole)


RULES: dict[str, Callable[[Text], list[Span]]] = {
    "automatic": automatic,
    "blank_lines": _blank_lines,
    "numbered": _numbered,
    "lines": _lines,
    "sentences": Text.sentences,
}
