"""Runs the web server or the score worker of a checkout with a clock on each part of a request's path.

python benchmarks/serving/parts.py FOLDER MODULE ARGUMENT...

Runs `python -m MODULE ARGUMENT...` in the current folder, a checkout. Every half second each process writes what its
parts have used so far to a JSON file in FOLDER: processor seconds, seconds and calls, without the parts within a part.
"""

import importlib
import json
import os
import runpy
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

EVERY = 0.5
WEB = (
    ("Django: middleware, routing", "config.wsgi", "application"),
    ("REST framework", "rest_framework.views", "APIView.dispatch"),
    ("authentication", "annotation.api.authentication", "TokenAuthentication.authenticate"),
    ("project and membership", "annotation.api.scores", "find_project"),
    ("project and membership", "annotation.api.scores", "recent_project"),
    ("decoding", "annotation.api.scores", "read_body"),
    ("decoding", "annotation.api.scores", "SolutionsToScore.texts"),
    ("quotas", "annotation.serving.quotas", "spend"),
    ("queue: sending", "annotation.serving.request_queue", "_enqueue"),
    ("queue: waiting for the answer", "annotation.serving.request_queue", "wait_for_answer"),
    ("route", "annotation.api.scores", "Scores.post"),
    ("encoding", "annotation.api.rendering", "StructRenderer.render"),
)
WORKER = (
    ("queue: taking", "annotation.serving.request_queue", "take_waiting"),
    ("choice of the model", "annotation.serving.shelf", "Shelf.update"),
    ("choice of the model", "annotation.serving.shelf", "Shelf.refresh"),
    ("choice of the model", "annotation.serving.shelf", "Shelf.find"),
    ("model: tokenisation", "prm.scoring.scorer", "tokenise"),
    ("model: layout", "prm.scoring.scorer", "windows"),
    ("model: forward pass", "prm.features", "decode"),
    ("model: forward pass", "prm.scoring.cached_text", "decode"),
    ("model: features", "prm.features", "describe_steps"),
    ("model: features", "prm.scoring.cached_text", "describe_steps"),
    ("model: heads", "prm.scoring.verdicts", "Judges.step_scores"),
    ("model: domain and verdict", "prm.scoring.embedding", "Familiarity.marks"),
    ("model: domain and verdict", "prm.scoring.embedding", "Familiarity.distance"),
    ("model: domain and verdict", "annotation.loop.gateway.serving_model", "judge"),
    ("model: batches", "annotation.loop.gateway.serving_model", "ServingModel.score"),
    ("queue: answering", "annotation.serving.request_queue", "send_answers"),
    ("score log", "annotation.serving.journal", "write_rows"),
    ("score log", "annotation.serving.request_queue", "delete_entries"),
    ("loop", "annotation.serving.worker", "ScoreThread._turn"),
)
PARTS = {"gunicorn": WEB, "celery": WORKER}


class Clock:
    """Adds up, by part, the time of the calls in all threads of this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.used: dict[str, list[float]] = {}
        self._threads = threading.local()
        self._lock = threading.Lock()

    def on(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            calls = self._threads.__dict__.setdefault("calls", [])
            within = [0.0, 0.0]
            calls.append(within)
            worked, begun = time.thread_time(), time.perf_counter()
            try:
                return function(*args, **named)
            finally:
                worked, begun = time.thread_time() - worked, time.perf_counter() - begun
                calls.pop()
                if calls:
                    calls[-1][0] += worked
                    calls[-1][1] += begun
                with self._lock:
                    used = self.used.setdefault(part, [0.0, 0.0, 0.0])
                    used[0] += worked - within[0]
                    used[1] += begun - within[1]
                    used[2] += 1

        return call

    def keep_writing(self) -> None:
        threading.Thread(target=self._write, daemon=True).start()

    def _write(self) -> None:
        file = self.folder / f"{os.getpid()}.json"
        while True:
            time.sleep(EVERY)
            with self._lock:
                text = json.dumps(self.used)
            file.with_suffix(".new").write_text(text)
            file.with_suffix(".new").rename(file)


def main() -> None:
    folder, module, *arguments = sys.argv[1:]
    sys.path[0] = os.getcwd()
    clock = Clock(Path(folder))
    if module == "celery":
        importlib.import_module("config.celery")
        importlib.import_module("django").setup()
    for part, place, name in PARTS[module]:
        owner: Any = importlib.import_module(place)
        *outer, last = name.split(".")
        for each in outer:
            owner = getattr(owner, each)
        if hasattr(owner, last):  # another checkout may lack it
            setattr(owner, last, clock.on(part, getattr(owner, last)))
    os.register_at_fork(after_in_child=clock.keep_writing)
    clock.keep_writing()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
