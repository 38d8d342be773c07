"""Three machines that share PostgreSQL, Redis and a bucket: each is killed in the middle of its work.

A machine is a data folder and the processes that have it. One web process and one worker are enough for each.
"""

import contextlib
import json
import logging
import subprocess
import sys
import urllib.request
from datetime import timedelta

import pytest
from django.utils import timezone
from moto.server import ThreadedMotoServer

from annotation.core import storage
from annotation.core.lifecycle import sweep_jobs
from annotation.core.membership.projects import create_project
from annotation.core.membership.tokens import issue_token
from annotation.core.storage_bucket import bucket
from annotation.loop.rounds import runs
from annotation.loop.rounds.artefacts import model_key, run_key
from annotation.models import ImportJob, RunStage, Scope, Solution, TrainingRun
from config.env import BASE_DIR
from launch.supervision import worker_commands
from launch.tether import tethered
from stepmark import Client
from stepmark import client as module
from tests.factories import UserFactory
from tests.plugins.workers import environment
from tests.processes import free_port, started_with
from tests.rounds_world import labelled_project
from tests.waiting import until

RECORDS = 2500


class Machine:
    """One machine: `serve` starts its web process, `work` a worker of some queues, `kill` ends all of it at once."""

    def __init__(self, var, shared):
        self.var, self._shared, self._processes = var, shared, []
        var.mkdir()

    def serve(self, port):
        web = [sys.executable, "-m", "gunicorn", "config.wsgi", "--config", "python:config.gunicorn"]
        self._start([*web, "--bind", f"127.0.0.1:{port}", "--threads", "2", "--worker-tmp-dir", str(self.var)])
        until(lambda: _is_up(port))

    def work(self, *queues):
        command = worker_commands()["score" if "score" in queues else "gpu"]
        command[command.index("--queues") + 1] = ",".join(queues)
        command[command.index("--hostname") + 1] = f"{self.var.name}@test"
        self._start(command)

    def kill(self):
        for process in self._processes:
            process.kill()
            process.wait()
        self._processes.clear()
        until(lambda: not started_with(self.var))

    def _start(self, command):
        with (self.var / "log").open("ab") as log:
            process = subprocess.Popen(
                tethered(command),
                cwd=BASE_DIR, env=environment() | self._shared | {"VAR_DIR": str(self.var)}, stdout=log, stderr=log,
            )  # fmt: skip
        self._processes.append(process)


@pytest.fixture
def machines(transactional_db, settings, tmp_path):
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # else a line for each request
    host, port = server.get_host_and_port()
    options = {"key": "key", "secret": "secret", "client_kwargs": {"endpoint_url": f"http://{host}:{port}"}}
    settings.STATE_ROOT, settings.STORAGE_URL, settings.STORAGE_OPTIONS = tmp_path / "test", "s3://bucket/a", options
    with bucket() as (fs, _root):
        fs.mkdir("bucket")
    shared = {"STORAGE_URL": settings.STORAGE_URL, "STORAGE_OPTIONS": json.dumps(options)}
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        machines = [Machine(tmp_path / name, shared) for name in ("one", "two", "three")]
        for machine in machines:
            stack.callback(machine.kill)
        yield machines


def _is_up(port):
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).status == 200
    except OSError:
        return False


def _resume(job):
    """Do what beat does once the heartbeat of the dead worker is old enough."""
    type(job).objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    until(sweep_jobs)


def _state(job):
    job.refresh_from_db()
    return job.state


def test_each_of_three_machines_dies_at_its_work_and_another_goes_on(machines, tmp_path, monkeypatch):
    one, two, three = machines
    by, port = UserFactory(is_staff=True), free_port()
    _token, secret = issue_token(by=by, name="program", scopes=Scope.values)
    project = create_project(by=by, name="Imported", slug="imported")
    lines = [json.dumps({"problem": f"{n} + 1?", "steps": ["a", "b", "c"]}) for n in range(RECORDS)]
    file = tmp_path / "lines.jsonl"
    file.write_text("\n".join(lines))
    monkeypatch.setattr(module, "PIECE", file.stat().st_size // 4 + 1)

    # The web process dies between two pieces, and the next pieces come to another machine.
    def change_machine(sent, size):
        if sent < size / 2 and not started_with(two.var):
            one.kill()
            two.serve(port)

    one.serve(port)
    with Client(f"http://127.0.0.1:{port}", secret) as client:
        job = ImportJob.objects.get(pk=client.import_file("imported", file, progress=change_machine, wait=False)["id"])

    one.work("default")
    until(lambda: ImportJob.objects.get(pk=job.pk).done_records)
    one.kill()
    assert _state(job) == "running"
    two.work("default", "gpu")
    _resume(job)
    until(lambda: _state(job) == "done")
    assert (job.accepted, Solution.objects.filter(project=project).count()) == (RECORDS, RECORDS)
    until(lambda: storage.sizes(storage.key_of(job.path)) == {})  # the uploaded file is deleted

    project = labelled_project(by, labelled=60, unlabelled=20)
    run = runs.request_run(by=by, project=project)
    until(lambda: run.points.filter(stage="train").exists())
    two.kill()
    assert _state(run) == TrainingRun.State.RUNNING
    three.work("default", "gpu", "score")
    _resume(run)
    until(lambda: run.stages.get(name="evaluate").state == RunStage.State.RUNNING)
    three.kill()
    assert run.stages.get(name="train").attempts == 2
    one.work("default", "gpu", "score")
    _resume(run)
    until(lambda: _state(run) not in TrainingRun.LIVE)
    assert run.state == TrainingRun.State.DONE, run.error

    # What the pages of another machine show is in the bucket, and each machine has copies of its own.
    assert {"train.jsonl", "train.log", "holdout.jsonl", "challenger.jsonl"} <= storage.sizes(run_key(run)).keys()
    assert {"manifest.json", "model.safetensors", "CARD.md"} <= storage.sizes(model_key(run)).keys()
    two.serve(port)
    with Client(f"http://127.0.0.1:{port}", secret) as client:
        [snapshot] = client.snapshots(project.slug)
        content = client.download(snapshot, tmp_path / "labels.jsonl").read_bytes()
    assert content == storage.fetch(f"snapshots/{run.snapshot.path}").read_bytes()
    assert (two.var / "snapshots" / run.snapshot.path).read_bytes() == content
