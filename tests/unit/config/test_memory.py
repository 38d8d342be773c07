"""Memory that processes return when they no longer need it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.env import BASE_DIR

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="The allocator is that of glibc")

WEB = "import config.gunicorn"
# What Celery does in each new process of a pool.
WORKER = """
from celery.signals import worker_process_init
import config.celery
worker_process_init.send(sender=None)
"""
MEASURE = """
import ctypes, threading
import psutil

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]

def allocate(size):
    block = libc.malloc(size)
    ctypes.memset(block, 1, size)
    return block

def megabytes():
    return psutil.Process().memory_info().rss / 2**20
"""
# Each of 12 threads in turn needs 20 MB in small pieces, keeps the last piece, and waits.
THREADS = """
end = threading.Event()

def need_memory(done):
    pieces = [allocate(10_000) for _ in range(2_000)]
    for piece in pieces[:-1]:
        libc.free(piece)
    done.set()
    end.wait()

before = megabytes()
for _ in range(12):
    done = threading.Event()
    threading.Thread(target=need_memory, args=[done]).start()
    done.wait()
print(megabytes() - before)
end.set()
"""
# A result of 16 MB, and later 20 of 1 MB.
LARGE_BLOCKS = """
before = megabytes()
libc.free(allocate(2**24))
blocks = [allocate(2**20) for _ in range(20)]
for block in blocks:
    libc.free(block)
print(megabytes() - before)
"""


@pytest.mark.parametrize("process", [WEB, WORKER], ids=["web", "worker"])
@pytest.mark.parametrize(("work", "most"), [(THREADS, 60), (LARGE_BLOCKS, 5)], ids=["threads", "large-blocks"])
def test_a_process_returns_memory_that_it_no_longer_needs(process: str, work: str, most: int, tmp_path: Path) -> None:
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    command = [sys.executable, "-c", process + MEASURE + work]
    outcome = subprocess.run(command, cwd=BASE_DIR, env=environment, check=True, capture_output=True, text=True)
    assert float(outcome.stdout) < most
