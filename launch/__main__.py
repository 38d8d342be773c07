"""Start Stepmark on this machine: `stepmark COMMAND`, or `python -m launch COMMAND` in a checkout.

run          everything: servers, database, front end, web, workers and beat
servers      only the embedded servers, for `manage` and for development
worker Q     only the worker of queue Q, with one task at a time for each training device
manage ...   an administrative command, such as `manage createsuperuser`
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from launch import catalogues, frontend
from launch.embedded import Servers, servers
from launch.errors import LaunchError, exit_status
from launch.options import BASE_DIR, Options, read_options
from launch.ownership import sole_owner
from launch.preflight import check, check_writable
from launch.progress import REPORT_SECONDS, Progress
from launch.startup import await_ready
from launch.supervision import become_worker, prepared_file, programs, supervised
from launch.tether import tethered

CHECK_SECONDS = 1


def run(options: Options) -> None:
    """Start everything, print the address, and run until a signal stops it."""
    progress = Progress()
    check_writable(options.var)
    with sole_owner(options.var, note=options.address):
        check(options)
        catalogues.compile_catalogues()
        frontend.build()
        with _announced_servers(options) as addresses:
            environment = _environment(options, addresses)
            web, *others = running = programs(options)
            with supervised(options, running, environment) as supervisor:
                accounts = prepare(options, environment)  # while the web loads
                prepared_file(options).touch()
                await_ready(supervisor, [web], lambda: _revive(addresses))
                ready = f"Stepmark is at {options.address} (after {progress.seconds:.0f} s)"
                print(f"\n{ready}\n\n{accounts}\nCtrl-C stops it.", flush=True)
                supervisor.start_all()
                await_ready(supervisor, others, lambda: _revive(addresses))
                print(f"The workers are ready (after {progress.seconds:.0f} s).", flush=True)
                while True:
                    supervisor.raise_if_ended()
                    _revive(addresses)
                    time.sleep(CHECK_SECONDS)


def serve(options: Options) -> None:
    """Start the embedded servers only, and run until a signal stops them."""
    check_writable(options.var)
    with sole_owner(options.var, note="servers only"), _announced_servers(options) as addresses:
        print("\n".join(f"export {name}='{address}'" for name, address in addresses.items()), flush=True)
        print("manage.py finds them. Ctrl-C stops them.", file=sys.stderr)
        while True:
            _revive(addresses)
            time.sleep(CHECK_SECONDS)


def prepare(options: Options, environment: Mapping[str, str]) -> str:
    """Migrate the database and, on the first run, create the demo project; returns how to sign in."""
    _manage("migrate", "--no-input", "--skip-checks", "--verbosity", "0", environment=environment)
    accounts = options.var / "demo_accounts.txt"
    if not accounts.exists():
        print("Creating the demo project (only on the first start)...", flush=True)
        _manage("create_demo", environment=environment)  # writes the file last, readable by its owner only
    return accounts.read_text()


def _revive(addresses: Servers) -> None:
    """Start the embedded servers that have died again."""
    for name in addresses.revive():
        print(f"{name} died and was started again.", file=sys.stderr, flush=True)


@contextmanager
def _announced_servers(options: Options) -> Iterator[Servers]:
    """The servers, with their addresses in a file while they run, so that `manage.py` finds them."""
    announcement = options.var / "servers.env"
    with servers(options.var, external=options.external) as addresses:
        announcement.touch(mode=0o600)
        announcement.write_text("".join(f"{name}='{address}'\n" for name, address in addresses.items()))
        try:
            yield addresses
        finally:
            announcement.unlink(missing_ok=True)


def _environment(options: Options, addresses: Mapping[str, str]) -> dict[str, str]:
    return dict(addresses) | {"VAR_DIR": str(options.var), "PYTHONUNBUFFERED": "1"}


def _manage(*arguments: str, environment: Mapping[str, str]) -> None:
    """Run one management command and wait for its end; its errors go to the terminal."""
    command = [sys.executable, str(BASE_DIR / "manage.py"), *arguments]
    progress = Progress()
    with subprocess.Popen(
        tethered(command), env=os.environ | dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as process:
        try:
            while True:
                try:
                    status = process.wait(REPORT_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    progress.report(f"Still running `manage.py {arguments[0]}`")
        except BaseException:
            process.kill()
            raise
    if status != 0:
        raise LaunchError(f"`manage.py {arguments[0]}` failed: its error is above.")


def _stop(number: int, frame: FrameType | None) -> None:
    """Unwind on the first signal, and ignore further ones, which would interrupt the stop."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    raise KeyboardInterrupt


def main(arguments: list[str]) -> int:
    """Run a command; returns exit status 0 after a requested stop, else 1 with one sentence on stderr."""
    commands = {"run": run, "servers": serve}
    if arguments[:1] == ["worker"] and len(arguments) == 2:
        return exit_status(lambda: become_worker(arguments[1]))
    if arguments[:1] == ["manage"]:
        os.execv(sys.executable, [sys.executable, str(BASE_DIR / "manage.py"), *arguments[1:]])
    if arguments in (["--help"], ["-h"]):
        print(__doc__)
        return 0
    if len(arguments) != 1 or arguments[0] not in commands:
        if arguments and arguments[0] not in (*commands, "worker"):
            print(f"There is no command {arguments[0]!r}.", file=sys.stderr)
        print(__doc__, file=sys.stderr)
        return 2
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, _stop)
    try:
        return exit_status(lambda: commands[arguments[0]](read_options()))
    except KeyboardInterrupt:
        print("\nStopped.", flush=True)
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
