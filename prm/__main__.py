"""The library from a shell. JSONL in and out; errors are one line on stderr.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 data refused, 4 cancelled (a training run can be resumed).
"""

import argparse
import ctypes
import os
import signal
import sys

from prm.commands import adopt, audit, card, evaluate, explain, export, probe, score, search, simulate, train
from prm.errors import Cancelled, PRMError
from prm.launched import is_launched

COMMANDS = (train, score, evaluate, audit, card, export, adopt, probe, explain, simulate, search)
PR_SET_PDEATHSIG = 1


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = _parser().parse_args(arguments)
    if options.die_with_parent:
        _die_with_parent()
    try:
        options.run(options)
    except PRMError as error:
        return _fail(error, error.exit_code)
    except KeyboardInterrupt:
        return _fail("stopped", Cancelled.exit_code)
    except OSError as error:
        return _fail(error, PRMError.exit_code)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m prm", description="Train, run and measure process reward models.")
    parser.add_argument("--die-with-parent", action="store_true", help="stop when the starting process ends (Linux)")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in COMMANDS:
        command.add(commands)
    return parser


def _fail(error: object, code: int) -> int:
    sys.stderr.write(" ".join(str(error).split()) + "\n")
    return code


def _die_with_parent() -> None:
    if sys.platform != "linux":
        return
    parent = os.getppid()
    # One of several processes may be waiting for the others where no polite signal reaches it.
    number = signal.SIGKILL if is_launched() else signal.SIGTERM
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # it ended before the kernel knew
        raise SystemExit(Cancelled.exit_code)


if __name__ == "__main__":
    sys.exit(main())
