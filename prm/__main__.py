"""The command line of the library. An error is one line on stderr, and also JSON if requested.

Exit codes: 0 done, 1 failed, 2 invalid arguments or input, 4 cancelled (a training run can be resumed).
"""

import argparse
import json
import signal
import sys
from typing import Any, NoReturn

from prm import __version__
from prm.commands import (
    audit,
    backbone,
    contamination,
    convert,
    evaluate,
    explain,
    models,
    probe,
    reproduce,
    score,
    search,
    serve,
    simulate,
    train,
)
from prm.errors import Cancelled, DataError, PRMError
from prm.messages import Message, as_json
from prm.processes import die_with_parent, is_launched

IN_JSON = "--errors-as-json"
COMMANDS = (
    train,
    score,
    serve,
    evaluate,
    convert,
    audit,
    models,
    probe,
    explain,
    simulate,
    search,
    contamination,
    backbone,
    reproduce,
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    in_json = IN_JSON in (sys.argv if arguments is None else arguments)
    try:
        options = make_parser().parse_args(arguments)  # it also opens input files, so a DataError is possible
        # A launched process may be waiting for the others in a call that SIGTERM does not interrupt.
        if options.die_with_parent and not die_with_parent(signal.SIGKILL if is_launched() else signal.SIGTERM):
            return Cancelled.exit_code
        options.run(options)
    except PRMError as error:
        return _fail(error.message, error.exit_code, in_json=in_json)
    except KeyboardInterrupt:
        return _fail("stopped", Cancelled.exit_code)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error), PRMError.exit_code)
    return 0


class Help(argparse.ArgumentDefaultsHelpFormatter):
    """Adds the default to the help of an option that has one and does not state it."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if isinstance(action.default, list) and action.default:
            return f"{action.help} (default: {' '.join(action.default)})"
        return super()._get_help_string(action) if str(action.default or "").strip() else action.help


class Parser(argparse.ArgumentParser):
    """Reports invalid arguments in one line, and states defaults in the help."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=Help, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(DataError.exit_code, f"{self.prog}: {message}; see --help\n")


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m prm", description="Train, run and measure process reward models.")
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("--die-with-parent", action="store_true", help="stop when the starting process ends (Linux)")
    parser.add_argument(IN_JSON, action="store_true", help="also print an error as one line of JSON")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in COMMANDS:
        command.add(commands)
    return parser


def _fail(error: str, code: int, *, in_json: bool = False) -> int:
    sys.stderr.write(" ".join(error.split()) + "\n")
    if in_json and isinstance(error, Message):
        sys.stderr.write(json.dumps(as_json(error)) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
