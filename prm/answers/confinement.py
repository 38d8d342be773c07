"""The limits of a process that reads hostile text: memory, time, files, the network, and the evaluator.

The limits are the kernel's, for this process alone and never to be raised again. The rest is an audit hook
(PEP 578), which Python cannot take off.
"""

import resource
import sys

TEMPLATES = "sympy.polys.monomials"  # writes code from a number of variables, and from nothing else
FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "shutil.")


def limit_memory(megabytes: int) -> None:
    """No more address space than this, no file written, no core left behind."""
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_cpu(seconds: float) -> None:
    """No more processor time than this from here on; the kernel kills a process that takes more."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    allowed = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, resource.RLIM_INFINITY))


def forbid_evaluation() -> None:
    """Forbid code from text, subprocesses, writing and sockets from now on; an attempt raises PermissionError.

    Modules are still imported from their files, which libraries do late.
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
