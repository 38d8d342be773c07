"""The process that does algebra on hostile answers: `python -m prm.answers.child MEGABYTES`, started by a `Grader`.

A line in is `[given, reference, seconds]` in JSON, a line out `true`, `false` or `null`. It says `"ready"` first. What
takes longer than its seconds is null; where Python cannot be interrupted, the kernel or the one who asked kills it. It
ends when it is asked no more, because nobody holds the other end.
"""

import json
import signal
import sys
from types import FrameType

from prm.answers.confinement import forbid_evaluation, limit_cpu, limit_memory


class _OutOfTime(BaseException):
    """Not an Exception: libraries catch those."""


def main() -> None:
    limit_memory(int(sys.argv[1]))
    signal.signal(signal.SIGALRM, _interrupt)
    _warm_up()
    forbid_evaluation()
    _say("ready")
    for line in sys.stdin:
        given, reference, seconds = json.loads(line)
        _say(_within(seconds, given, reference))


def _warm_up() -> None:
    """Load what is loaded late, before nothing may be compiled any more."""
    from prm.answers.algebra import compare, disarm

    disarm()
    for pair in ((r"\frac{x+1}{2}", "(x+2)/2"), (r"\{1, 2\}", "2, 1"), ("[0, 1)", "x < 1"), ("x^2 = 4", "x = 2")):
        compare(*pair)


def _within(seconds: float, given: str, reference: str) -> bool | None:
    from prm.answers.algebra import compare

    limit_cpu(2 * seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return compare(given, reference)
    except (_OutOfTime, Exception):
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise _OutOfTime


def _say(word: bool | str | None) -> None:
    sys.stdout.write(json.dumps(word) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
