"""The wait until everything is ready: as long as the processes live, with a line now and then on what is missing."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from launch.errors import LaunchError
from launch.progress import Progress
from launch.supervision import Program, Supervisor

LOOK_SECONDS = 0.25
MOST_EXITS = 3  # of one process before it is ready for the first time
LOG_LINES = 20


def await_ready(supervisor: Supervisor, programs: Sequence[Program], look: Callable[[], None]) -> float:
    """Return, with the seconds it took, once all `programs` are ready; `look` runs again and again during the wait.

    Raises LaunchError, with the end of its log, when one of them exits MOST_EXITS times before it is ready, or when
    the supervisor has given it up.
    """
    progress = Progress()
    exits: dict[str, set[int]] = defaultdict(set)
    missing = {program.name: program for program in programs}
    while True:
        look()
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
            return progress.seconds
        waiting = ", ".join(f"{name} ({reasons.get(name) or 'starting'})" for name in missing)
        progress.tell(f"Still starting: {waiting}")
        time.sleep(LOOK_SECONDS)


def _ended(program: Program, supervisor: Supervisor, times: int) -> str:
    log = supervisor.log(program)
    lines = log.read_text(errors="replace").splitlines()[-LOG_LINES:] if log.exists() else []
    end = "\n".join(f"  {line}" for line in lines)
    return f"`{program.name}` exited {times} times before it was ready. The end of {log}:\n{end}"
