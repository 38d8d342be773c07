"""A tab of a simulated annotator, over HTTP. It may be killed at any time and is then started again.

    python -m research.soak.people CONFIG.json

As in the workbench, a submission is written to the outbox before it is sent, and deleted from there after the server's
acknowledgement is in the ledger. After a crash it is therefore sent again with the same id.
"""

import http.client
import json
import os
import random
import signal
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import numpy as np

from annotation.loop.gateway.sandbox import Sandbox
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from prm.formats.record import Record
from research.soak.books import Entry, Ledger, Outbox

ANSWER_SECONDS = 30
LONGEST_WAIT = 4.0
AFTER_EXPIRY = 70  # seconds; the shortest lease is a minute
FIRST = 1  # the latest submission


class Person(msgspec.Struct):
    """The configuration of a person and their tab. `hurry` divides the time of reading."""

    name: str
    profile: str
    token: str
    address: str
    project: str
    folder: str
    solutions: int
    world_seed: int
    seed: int
    hurry: float
    skips: float = 0.02
    revises: float = 0.02
    crashes: float = 0.02
    dawdles: float = 0.004


class Unreachable(Exception):
    """No response, or one that asks for a retry: the server may have processed the request."""


class Tab:
    def __init__(self, person: Person) -> None:
        self.person = person
        # A tab that is started again does not do again what it did.
        self.chance = random.Random(f"{person.seed}/{time.time_ns()}")
        self.rng = np.random.default_rng(self.chance.getrandbits(64))
        self.sandbox = Sandbox(solutions=person.solutions, seed=person.world_seed)
        self.known = {_content(record): record.external_id for record in self.sandbox.records()}
        self.outbox = Outbox(Path(person.folder), person.name)
        self.ledger = Ledger(Path(person.folder), person.name)
        self.stop = Path(person.folder) / "stop"

    def work(self) -> None:
        """Label until the file `stop` exists; deliver the outbox at the start and at the end."""
        self.deliver()
        while not self.stop.exists():
            try:
                claim = self.call("POST", f"projects/{self.person.project}/claim/", {"holding": []})
            except Unreachable:
                time.sleep(self.chance.uniform(0.2, LONGEST_WAIT))
                continue
            if claim["task"] is None:
                time.sleep(self.chance.uniform(0.5, 1.5))
                continue
            self.take_up(claim["task"])
        self.deliver()

    def take_up(self, task: dict[str, Any]) -> None:
        if self.chance.random() < self.person.skips:
            self.attempt("POST", f"leases/{task['lease']['id']}/release/", {"reason": "not my field"})
            return
        submission = self.read(task)
        self.attempt("PUT", f"leases/{task['lease']['id']}/draft/", {"version": 0, "body": {"by": self.person.name}})
        time.sleep((submission.total_ms or 0) / 1000 / self.person.hurry)
        if self.chance.random() < self.person.dawdles:
            time.sleep(AFTER_EXPIRY)
        self.outbox.put(submission)
        if self.chance.random() < self.person.crashes:
            self.send_and_die(submission)
        self.deliver()
        if self.chance.random() < self.person.revises:
            self.outbox.put(msgspec.structs.replace(self.read(task), based_on=FIRST))
            self.deliver()

    def read(self, task: dict[str, Any]) -> Submission:
        """The person's submission for a solution, with a new id."""
        places = task["solution"]["steps"]
        texts = tuple(place["alternatives"][0]["text"] for place in places)
        external_id = self.known[task["problem"]["text"], texts]
        reading = self.sandbox.read(external_id, profile=self.person.profile, rng=self.rng)
        return Submission(
            submission_id=uuid.uuid4(),
            solution=task["solution"]["id"],
            lease=task["lease"]["id"],
            finish_reason=reading.finish_reason,  # type: ignore[arg-type]
            path=[
                GivenPosition(
                    position=place["position"],
                    chosen=None if read.rating == -1 else place["alternatives"][0]["id"],
                    dwell_ms=read.dwell_ms,
                    ratings=[
                        GivenRating(
                            step=place["alternatives"][0]["id"],
                            state=read.state,
                            rating=read.rating,
                            flagged=read.state == "unsure",
                        )
                    ],
                )
                for place, read in zip(places, reading.steps, strict=False)
            ],
            total_ms=sum(read.dwell_ms for read in reading.steps),
        )

    def deliver(self) -> None:
        """Send the waiting submissions, the oldest first, until the server has acknowledged all."""
        wait = 0.1
        for submission in self.outbox.waiting():
            while True:
                try:
                    receipt = self.call("POST", self.annotations, msgspec.to_builtins(submission))
                except Unreachable:
                    time.sleep(self.chance.uniform(wait / 2, wait))
                    wait = min(2 * wait, LONGEST_WAIT)
                    continue
                if receipt.get("code") == "revision_conflict":  # another tab was faster; submit this one
                    submission = msgspec.structs.replace(submission, based_on=receipt["extra"]["revision"])
                    self.outbox.put(submission)
                    continue
                self.ledger.write(
                    Entry(
                        submission_id=str(submission.submission_id),
                        solution=submission.solution,
                        payload_hash=submission.payload_hash,
                        person=self.person.name,
                        annotation=receipt.get("id"),
                        refused=receipt.get("code", ""),
                    )
                )
                self.outbox.remove(submission)
                break

    def send_and_die(self, submission: Submission) -> None:
        """Send a submission and exit before the response, as a laptop without power."""
        with suppress(OSError):
            body = msgspec.json.encode(submission)
            self.connect().request("POST", self.path(self.annotations), body, self.headers)
        os.kill(os.getpid(), signal.SIGKILL)

    @property
    def annotations(self) -> str:
        return f"projects/{self.person.project}/annotations/"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Token {self.person.token}", "Content-Type": "application/json"}

    def attempt(self, method: str, path: str, body: dict[str, Any]) -> None:
        """Send a request that may fail."""
        with suppress(Unreachable):
            self.call(method, path, body)

    def call(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The response, also an error (4xx). Raises Unreachable if a retry may help."""
        connection = self.connect()
        try:
            connection.request(method, self.path(path), json.dumps(body, default=str), self.headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(str(error)) from None
        finally:
            connection.close()
        if answer.status >= 500 or answer.status == 429:
            raise Unreachable(f"{answer.status}")
        told: dict[str, Any] = json.loads(text) if text else {}
        return told

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(urlsplit(self.person.address).netloc, timeout=ANSWER_SECONDS)

    def path(self, path: str) -> str:
        return f"/api/v1/{path}"


def _content(record: Record) -> tuple[str, tuple[str, ...]]:
    return record.problem, tuple(at[0].text for at in record.positions)


if __name__ == "__main__":
    Tab(msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Person)).work()
