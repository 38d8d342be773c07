"""Waits until all processes are ready, as long as they live, and reports which are still starting."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from launch.errors import LaunchError
from launch.progress import Progress
from launch.supervision import Program, Supervisor

CHECK_SECONDS = 0.25
MOST_EXITS = 3  # of one process before it is ready for the first time
LOG_LINES = 20


def await_ready(supervisor: Supervisor, programs: Sequence[Program], on_check: Callable[[], None]) -> None:
    """Wait until all `programs` are ready. Calls `on_check` before each check.

    Raises LaunchError, with the end of its log, if one of them exits MOST_EXITS times before it is ready, or if the
    supervisor no longer restarts it.
    """
    progress = Progress()
    exits: dict[str, set[int]] = defaultdict(set)
    missing = {program.name: program for program in programs}
    while True:
        on_check()
        states = supervisor.states()
        reasons = {name: program.ready() for name, program in missing.items() if name in states}
        for name, program in list(missing.items()):
            if name not in states:
                continue
            state = states[name]
            if state.exited_at:
                exits[name].add(state.exited_at)
            if state.running and not reasons[name]:
                del missing[name]
            elif state.given_up or len(exits[name]) >= MOST_EXITS:
                raise LaunchError(_ended(program, supervisor, max(1, len(exits[name]))))
        if not missing:
            return
        waiting = ", ".join(f"{name} ({reasons.get(name) or 'starting'})" for name in missing)
        progress.report(f"Still starting: {waiting}")
        time.sleep(CHECK_SECONDS)


def _ended(program: Program, supervisor: Supervisor, times: int) -> str:
    log = supervisor.log(program)
    lines = log.read_text(errors="replace").splitlines()[-LOG_LINES:] if log.exists() else []
    end = "\n".join(f"  {line}" for line in lines)
    return f"`{program.name}` exited {times} times before it was ready. The end of {log}:\n{end}"
