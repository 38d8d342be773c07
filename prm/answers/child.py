"""The process that does algebra on hostile answers: `python -m prm.answers.child MEGABYTES`, started by a `Grader`.

It writes `"ready"`, then reads lines `[stated, reference, seconds]` in JSON and answers each with `true`, `false` or
`null`. A comparison that exceeds its seconds is null; if Python cannot be interrupted, the kernel or the grader kills
the process. It ends when its input is closed.

Before it reads hostile text it restricts its memory, time, files, network and evaluation of code. The kernel enforces
the limits, which this process cannot raise again. The rest is an audit hook (PEP 578), which Python cannot remove.
"""

import json
import resource
import signal
import sys
from types import FrameType

TEMPLATES = "sympy.polys.monomials"  # generates code from a number of variables only
FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "shutil.")


def limit_memory(megabytes: int) -> None:
    """Limit the address space, and forbid writing files and core dumps."""
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_cpu(seconds: float) -> None:
    """Limit further processor time; the kernel kills a process that exceeds it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    allowed = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, resource.RLIM_INFINITY))


def forbid_evaluation() -> None:
    """Forbid compiling text, subprocesses, writing and sockets from now on; an attempt raises PermissionError.

    Importing modules from files remains possible, since libraries do so late.
    """
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event == "compile" and not (str(arguments[1]).endswith(".py") or _asked_by(TEMPLATES)):
        raise PermissionError("text is not evaluated here")
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        raise PermissionError("nothing is written here")
    if event.startswith(FORBIDDEN):
        raise PermissionError(f"{event} is not done here")


def _asked_by(module: str) -> bool:
    return sys._getframe(2).f_globals.get("__name__") == module


class _OutOfTime(BaseException):
    """Not an Exception: libraries catch those."""


def main() -> None:
    limit_memory(int(sys.argv[1]))
    signal.signal(signal.SIGALRM, _interrupt)
    _warm_up()
    forbid_evaluation()
    _say("ready")
    for line in sys.stdin:
        stated, reference, seconds = json.loads(line)
        _say(_within(seconds, stated, reference))


def _warm_up() -> None:
    """Import and compile lazily loaded parts before compiling is forbidden."""
    from prm.answers.algebra import compare, disarm

    disarm()
    for pair in ((r"\frac{x+1}{2}", "(x+2)/2"), (r"\{1, 2\}", "2, 1"), ("[0, 1)", "x < 1"), ("x^2 = 4", "x = 2")):
        compare(*pair)


def _within(seconds: float, stated: str, reference: str) -> bool | None:
    from prm.answers.algebra import compare

    limit_cpu(2 * seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return compare(stated, reference)
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
