"""The results as a Markdown table."""

import statistics
from collections.abc import Mapping, Sequence

from research.keystrokes.hands import Labelled

HEAD = ("side", "by", "solutions", "keys and clicks, median", "mean", "of them clicks", "seconds, median", "mean")


def table(measured: Mapping[str, Sequence[Labelled]]) -> str:
    """One row for each side and way (`side/way`), over the solutions that were labelled in all ways."""
    common = set.intersection(*({one.number for one in done} for done in measured.values()))
    rows = [_row(*name.split("/"), [one for one in done if one.number in common]) for name, done in measured.items()]
    lines = [HEAD, ("---", "---", *["---:"] * (len(HEAD) - 2)), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(side: str, way: str, done: Sequence[Labelled]) -> tuple[str, ...]:
    strokes, seconds = [one.strokes for one in done], [one.seconds for one in done]
    return (
        side,
        way,
        str(len(done)),
        f"{statistics.median(strokes):g}",
        f"{statistics.mean(strokes):.1f}",
        f"{statistics.mean(one.clicks for one in done):.1f}",
        f"{statistics.median(seconds):.2f}",
        f"{statistics.mean(seconds):.2f}",
    )
