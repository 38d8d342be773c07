"""Two machines that share only a bucket train one model by the documented script, and others resume it."""

import contextlib
import json
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from moto.server import ThreadedMotoServer

from config.env import BASE_DIR
from prm.manifest import read_manifest
from prm.sandbox.world import WorldConfig, generate
from prm.traces import write_traces
from tests.processes import free_port
from tests.waiting import until

GUIDE = BASE_DIR / "docs" / "guides" / "own-stack.md"
SECONDS = 240
CONFIG = {"lane": "full", "epochs": 8, "patience": 8, "batch_tokens": 1000, "heads": 2, "hidden": 8}
CONFIG |= {"checkpoint_seconds": 0.5, "trackers": []}
# `aws s3 sync [--delete] SOURCE TARGET`, by fsspec. The script calls it all the time, and each start of fsspec takes a
# second of a core: a process of the machine does the work, and the program only tells it what to do.
AWS = f"""\
#!{sys.executable} -SE
import json, os, socket, sys
asked = json.dumps([os.getcwd(), *sys.argv[1:]]).encode() + b"\\n"
os.chdir(os.environ["HOME"])  # the path of a socket must be short
with socket.socket(socket.AF_UNIX) as copier:
    copier.connect("copier")
    copier.sendall(asked)
    sys.exit(copier.makefile().read() or None)
"""
COPIER = """\
import json, os, socketserver, traceback
import fsspec
from fsspec.generic import rsync

fsspec.config.conf["s3"] = {"use_listings_cache": False}

def copy(folder, s3, sync, *rest):
    *options, source, target = rest
    assert (s3, sync, options) in (("s3", "sync", []), ("s3", "sync", ["--delete"]))
    os.chdir(folder)
    urls = [place if "://" in place else "file://" + place for place in (source, target)]
    fs, path = fsspec.url_to_fs(source)
    if fs.find(path):
        rsync(*urls, delete_missing=bool(options), update_cond="always")

class Copy(socketserver.StreamRequestHandler):
    def handle(self):
        try:
            copy(*json.loads(self.rfile.readline()))
        except Exception:
            self.wfile.write(traceback.format_exc().encode())

with socketserver.UnixStreamServer("new", Copy) as server:
    os.rename("new", "copier")
    server.serve_forever()
"""


class Machine:
    """A machine with a data folder, a home and programs of its own, which runs the documented script."""

    def __init__(self, folder: Path, node: int, port: int, endpoint: str) -> None:
        self.folder, self.log = folder, folder / "log"
        (folder / "bin").mkdir(parents=True)
        (folder / "data").mkdir()
        _write_program(folder / "bin" / "aws", AWS)
        _write_program(folder / "bin" / "torchrun", f'#!/bin/sh\nexec {sys.executable} -m torch.distributed.run "$@"\n')
        environment = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder), "OMP_NUM_THREADS": "1"}
        environment |= {"PYTHONPATH": os.pathsep.join([str(BASE_DIR), *filter(None, [os.environ.get("PYTHONPATH")])])}
        environment |= {"AWS_ENDPOINT_URL": endpoint, "AWS_DEFAULT_REGION": "us-east-1"}
        environment |= {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
        self.copier = subprocess.Popen(
            [sys.executable, "-c", COPIER], cwd=folder, env=environment, start_new_session=True
        )
        until((folder / "copier").exists)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", _script(folder / "data", node, port)],
                cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def kill(self) -> None:
        """End all of the machine at once, as a power cut does."""
        for environ in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if f"HOME={self.folder}".encode() in environ.read_bytes().split(b"\0"):
                    os.kill(int(environ.parent.name), signal.SIGKILL)
        self.process.wait()
        self.copier.wait()

    def end(self) -> list[dict[str, Any]]:
        """Wait for the end, and return what the training reported."""
        assert self.process.wait(SECONDS) == 0, self.log.read_text()
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]


def _write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _script(data: Path, node: int, port: int) -> str:
    """The guide's script for machines that share a bucket, in this folder and on this port."""
    scripts = re.findall(r"^```bash\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    [script] = [script for script in scripts if "s3 sync" in script]
    here = {
        "/data": str(data),
        "node=0": f"node={node}",
        "sleep 60": "sleep 0.3",
        "--nproc-per-node 8": "--nproc-per-node 1",
    }
    here |= {"10.0.0.1": "127.0.0.1", "29500": str(port)}
    for there, value in here.items():
        assert there in script
        script = script.replace(there, value)
    return script


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # else a line for each request
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def start(endpoint: str, tmp_path: Path) -> Iterator[Callable[[str], list[Machine]]]:
    """Start the script on two new machines."""
    machines: list[Machine] = []

    def start_both(name: str) -> list[Machine]:
        port = free_port()
        both = [Machine(tmp_path / f"{name}-{node}", node, port, endpoint) for node in (0, 1)]
        machines.extend(both)
        return both

    yield start_both
    for machine in machines:
        machine.kill()


def test_two_machines_train_a_model_in_a_bucket_and_new_ones_resume_it(endpoint, start, tmp_path) -> None:
    options = {"key": "key", "secret": "secret", "client_kwargs": {"endpoint_url": endpoint}}
    bucket = fsspec.filesystem("s3", use_listings_cache=False, **options)
    bucket.mkdir("bucket")
    labelled = [
        trace for split, n in (("pool", 60), ("calibration", 20)) for trace in generate(WorldConfig(), split=split, n=n)
    ]
    write_traces(tmp_path / "labelled.jsonl", labelled)
    bucket.put_file(str(tmp_path / "labelled.jsonl"), "bucket/inputs/labelled.jsonl")
    bucket.pipe_file("bucket/inputs/full.json", json.dumps(CONFIG).encode())

    lost = start("lost")
    until(lambda: bucket.exists("bucket/first/checkpoint/state.safetensors"), seconds=SECONDS)
    for machine in lost:
        machine.kill()
    assert not bucket.exists("bucket/first/manifest.json"), "killed in the middle"

    leader, other = start("new")
    steps = [report["step"] for report in leader.end() if report["stage"] == "train"]
    assert steps[0] > 1, "resumed"
    assert other.end() == []
    assert not (other.folder / "data" / "first").exists()
    bucket.get("bucket/first/", str(tmp_path / "model"), recursive=True)
    manifest = read_manifest(tmp_path / "model")
    assert manifest.costs.processes == 2
    assert len((tmp_path / "model" / "metrics.jsonl").read_text().splitlines()) == CONFIG["epochs"]
