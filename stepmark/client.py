"""A client of the HTTP API: create a project, import, claim, submit, read, train and export.

Objects are dictionaries with the fields that the API's reference describes. Every error of the API is an `ApiError`.
"""

import base64
import hashlib
import os
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, quote, urlsplit

import httpx2
import msgspec

Row = dict[str, Any]

PIECE = 4 * 2**20  # bytes of a file in one request
BUSY = frozenset({429, 503})  # the server did nothing
LOST = frozenset({502, 504})  # a proxy got no response, but the server may have done the work
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds between attempts
FIRST_POLL, LONGEST_POLL = 0.25, 5.0  # seconds between two looks at a job
REPEATABLE = frozenset({"GET", "HEAD"})
UNREACHABLE = "unreachable"


class ApiError(Exception):
    """The API rejected a request. `code` is stable, and `extra` has details such as `field`.

    `status` is the HTTP status, 0 if there was no response.
    """

    def __init__(self, code: str, message: str, extra: Row | None = None, *, status: int = 0) -> None:
        super().__init__(message)
        self.code, self.message, self.extra, self.status = code, message, extra or {}, status


class JobError(ApiError):
    """A job failed or was cancelled. `extra` is the job."""


class Client:
    """The API of one server, with a token of *API tokens*.

    It retries a busy server and a lost connection up to `retries` times, after the time in `Retry-After` or at growing
    intervals. If that does not help, it raises ApiError (`unreachable`, or the server's own). `timeout` is in seconds.
    """

    def __init__(self, url: str, token: str, *, timeout: float = 60.0, retries: int = 6) -> None:
        self._retries = retries
        self._http = httpx2.Client(
            base_url=url.rstrip("/") + "/api/v1/", headers={"Authorization": f"Token {token}"}, timeout=timeout
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # Any resource

    def get(self, path: str, **query: Any) -> Any:
        """The object, or the list, at a path below `/api/v1/`."""
        return msgspec.json.decode(self._send("GET", path, params=_query(query)).content)

    def post(self, path: str, body: Row | None = None, *, repeatable: bool = False) -> Row:
        """The response to a POST of `body`.

        A request whose response was lost is only repeated if it is `repeatable`: if the server does nothing the second
        time.
        """
        return _object(self._send("POST", path, json=body, repeatable=repeatable))

    def patch(self, path: str, body: Row) -> Row:
        """The object at a path after a change of the fields in `body`."""
        return _object(self._send("PATCH", path, json=body, repeatable=True))

    def delete(self, path: str) -> None:
        """Delete the object at a path."""
        self._send("DELETE", path)

    def each(self, path: str, **query: Any) -> Iterator[Row]:
        """Every row of a list, which is fetched page by page."""
        params: list[tuple[str, Any]] = _query(query)
        while True:
            page = _object(self._send("GET", path, params=params))
            yield from page["results"]
            if not page["next"]:
                return
            # Only its query: behind a proxy, the server may not know its own address.
            params = list(parse_qsl(urlsplit(page["next"]).query))

    # Projects

    def projects(self) -> Iterator[Row]:
        """The projects of the caller."""
        return self.each("projects/")

    def project(self, project: str) -> Row:
        """The project with this address (slug)."""
        return _object(self._send("GET", _path(project)))

    def create_project(self, project: str, name: str, **fields: Any) -> Row:
        """Create a project with the address `project`; `fields` are `guidelines`, `examples`, `scheme` and `policy`."""
        return self.post("projects/", {"slug": project, "name": name, **fields})

    # Solutions in

    def import_file(
        self, project: str, path: str | os.PathLike[str], *, progress: Callable[[int, int], None] | None = None,
        wait: bool = True, **manner: Any,
    ) -> Row:  # fmt: skip
        """Upload a file and import it; returns the job, which has counts and warnings.

        `progress` is called with the bytes sent and the size. `manner` has the fields of `import_files`: `format`,
        `decomposition`, and the objects `mapping` and `options`. With `wait`, raises JobError if the import fails.
        """
        upload = self._upload(project, Path(path), progress)
        texts = {name: value if isinstance(value, str) else _to_json(value) for name, value in manner.items()}
        started = self.post(_path(project, "import-groups/"), {"uploads": [upload], **texts})
        job = started["imports"][0]
        return self.wait(job) if wait else job

    def post_solutions(self, project: str, solutions: Sequence[Row], **fields: Any) -> Row:
        """Add up to 1,000 solutions; returns a result for each. `fields` are `provenance` and how to split texts."""
        body = {"solutions": list(solutions), **fields}
        return self.post(_path(project, "solutions/"), body, repeatable=True)

    # Labels

    def claim(self, project: str, holding: Sequence[int] = ()) -> Row | None:
        """The next task, or one that the caller has leased already and that is not in `holding`; None if none is left.

        Raises ApiError with the reason if the caller may not label now.
        """
        return _task(self.post(_path(project, "claim/"), {"holding": list(holding)}, repeatable=True))

    def submit(self, project: str, task: Row, ratings: Sequence[int | None] = (), **fields: Any) -> Row:
        """Submit a rating for each position of a task: 1 good, 0 neutral, -1 bad, None unsure. Safe to repeat.

        A project that stops at the first error ignores the ratings after it. `fields` are further fields of the
        submission, such as `comment`. To rate alternatives or to give up, set `path` and `finish_reason` yourself.
        """
        if "path" not in fields:
            fields["path"] = rated_path(task, ratings)
        body = {
            "submission_id": str(uuid.uuid4()),
            "solution": task["solution"]["id"],
            "lease": task["lease"]["id"],
            "finish_reason": "found_error" if -1 in ratings else "solution",
        }
        return self.post(_path(project, "annotations/"), body | fields, repeatable=True)

    def submit_and_claim(
        self, project: str, task: Row, ratings: Sequence[int | None] = (), holding: Sequence[int] = (), **fields: Any
    ) -> Row | None:
        """Submit as `submit`, and claim as `claim`, in one request; returns the next task.

        If the claim raises ApiError, the label is stored nevertheless.
        """
        return _task(self.submit(project, task, ratings, holding=list(holding), **fields)["next"])

    def heartbeat(self, task: Row) -> Row:
        """Extend the lease of a task; returns when it expires."""
        return self.post(f"leases/{task['lease']['id']}/heartbeat/", repeatable=True)

    def release(self, task: Row, reason: str = "") -> None:
        """Skip a task. The caller does not get it again."""
        self.post(f"leases/{task['lease']['id']}/release/", {"reason": reason}, repeatable=True)

    # Reading

    def solutions(self, project: str, **filters: Any) -> Iterator[Row]:
        """The solutions of a project that match the filters."""
        return self.each(_path(project, "solutions/"), **filters)

    def labels(self, project: str, **filters: Any) -> Iterator[Row]:
        """The labels of a project that match the filters."""
        return self.each(_path(project, "labels/"), **filters)

    def consensus(self, project: str, **filters: Any) -> Iterator[Row]:
        """The consensus of each labelled solution that matches the filters."""
        return self.each(_path(project, "consensus/"), **filters)

    def snapshots(self, project: str, **filters: Any) -> Iterator[Row]:
        """The snapshots of a project, latest first."""
        return self.each(_path(project, "snapshots/"), **filters)

    # Work in the background

    def open_generation(self, project: str) -> Row:
        """Draw the next generation, which fills the queue."""
        return self.post(_path(project, "generations/"))

    def train(self, project: str, *, wait: bool = False) -> Row:
        """Start a run: train, evaluate, gate, promote, score, select; returns its job."""
        job = self.post(_path(project, "runs/"))
        return self.wait(job) if wait else job

    def judge(self, project: str, endpoint: str, *, method: str = "judge", wait: bool = False, **plan: Any) -> Row:
        """Start labelling by a judge, or with `method="monte_carlo"` by rollouts; returns its job.

        `plan` has fields of the API's `start_judging`: `chosen`, `template`, `cost_budget` and so on.
        """
        job = self.post(_path(project, "judgings/"), {"endpoint": endpoint, "method": method, **plan})
        return self.wait(job) if wait else job

    def job(self, job: Row) -> Row:
        """The current state of a job."""
        return _object(self._send("GET", _path(job["project"], f"jobs/{job['kind']}/{job['id']}/")))

    def wait(self, job: Row, *, timeout: float | None = None, progress: Callable[[Row], None] | None = None) -> Row:
        """Wait until a job is done; returns it. A webhook reports the end without polling.

        Raises JobError if it failed or was cancelled, TimeoutError after `timeout` seconds. The job continues then.
        """
        end, pause = time.monotonic() + (float("inf") if timeout is None else timeout), FIRST_POLL
        while job["state"] in ("queued", "running"):
            if time.monotonic() >= end:
                raise TimeoutError(f"The job {job['kind']} {job['id']} still runs after {timeout:g} seconds.")
            time.sleep(pause)
            pause = min(LONGEST_POLL, 1.5 * pause)
            job = self.job(job)
            if progress:
                progress(job)
        if job["state"] != "done":
            raise JobError(job["failure"] or job["state"], job["error"] or f"The job was {job['state']}.", job)
        return job

    # Labels out

    def create_snapshot(self, project: str, filters: Mapping[str, Any] | None = None) -> Row:
        """Freeze the labels that match the filters, and wait for it.

        The same labels and filters give the same snapshot. Raises JobError if no label matches.
        """
        job = self.post(_path(project, "exports/"), {"filters": filters or {}})
        return _object(self._send("GET", f"snapshots/{self.wait(job)['snapshot']}/"))

    def download(self, snapshot: Row, path: str | os.PathLike[str], *, format: str = "records", **query: Any) -> Path:
        """Write a snapshot to a file in an export format.

        The file appears when it is complete. The hash of `records` with all splits is verified. Raises ApiError
        (`hash_mismatch`).
        """
        target = Path(path)
        part = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        query = {"format": format, **query}
        try:
            digest = self._save(f"snapshots/{snapshot['id']}/download/", query, part)
            if query == {"format": "records"} and digest != snapshot["sha256"]:
                message = f"The file's SHA-256 is {digest}, the snapshot's is {snapshot['sha256']}. Download it again."
                raise ApiError("hash_mismatch", message)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        return target

    # Webhooks

    def create_webhook(self, project: str, url: str, events: Sequence[str]) -> Row:
        """Register an address for events; its `secret` is shown only now, and `verify_webhook` needs it."""
        return self.post(_path(project, "webhooks/"), {"url": url, "events": list(events)})

    # Requests

    def _save(self, address: str, query: Row, path: Path) -> str:
        """Write a response to a file; returns its SHA-256."""
        digest = hashlib.sha256()
        with (
            closing(self._send("GET", address, stream=True, params=_query(query))) as response,
            path.open("wb") as file,
        ):
            try:
                for piece in response.iter_bytes():
                    file.write(piece)
                    digest.update(piece)
            except httpx2.TransportError as error:
                raise self._lost(error) from error
        return digest.hexdigest()

    def _upload(self, project: str, path: Path, progress: Callable[[int, int], None] | None) -> str:
        """Upload a file with the tus protocol, piece by piece; returns its id."""
        size = path.stat().st_size
        name = base64.b64encode(path.name.encode()).decode()
        made = self._send(
            "POST",
            _path(project, "uploads/"),
            headers={"Upload-Length": str(size), "Upload-Metadata": f"filename {name}"},
        )
        identity = urlsplit(made.headers["Location"]).path.rstrip("/").rpartition("/")[2]
        address, sent = f"uploads/{identity}/", 0
        with path.open("rb") as file:
            while sent < size:
                file.seek(sent)
                sent = self._send_piece(address, sent, file.read(PIECE))
                if progress:
                    progress(sent, size)
        return identity

    def _send_piece(self, address: str, offset: int, piece: bytes) -> int:
        """Send a piece; returns the upload's new offset. After a lost connection, the server knows how much arrived."""
        headers = {"Content-Type": "application/offset+octet-stream", "Upload-Offset": str(offset)}
        try:
            response = self._send("PATCH", address, content=piece, headers=headers)
        except ApiError as error:
            if error.code != UNREACHABLE:
                raise
            response = self._send("HEAD", address)
            if int(response.headers["Upload-Offset"]) <= offset:
                raise
        return int(response.headers["Upload-Offset"])

    def _send(
        self, method: str, path: str, *, repeatable: bool = False, stream: bool = False, **content: Any
    ) -> httpx2.Response:
        repeats = repeatable or method in REPEATABLE
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2**attempt) * random.uniform(0.5, 1.0)
            try:
                response = self._http.send(self._http.build_request(method, path, **content), stream=stream)
            except httpx2.TransportError as error:
                if last or not (repeats or isinstance(error, httpx2.ConnectError)):
                    raise self._lost(error) from error
            else:
                if last or response.status_code not in (BUSY | LOST if repeats else BUSY):
                    return _checked(response)
                response.close()
                stated = response.headers.get("Retry-After", "")
                wait = float(stated) if stated.isdecimal() else wait
            time.sleep(wait)
        raise AssertionError("unreachable")

    def _lost(self, error: httpx2.TransportError) -> ApiError:
        return ApiError(UNREACHABLE, f"{self._http.base_url} does not respond: {str(error) or type(error).__name__}")


def _task(claim: Row) -> Row | None:
    """The task of a response to a claim, None if none is left. Raises ApiError with another reason."""
    task: Row | None = claim["task"]
    if task is None and claim["reason"] not in ("done", "all_leased"):
        raise ApiError(claim["reason"], claim["message"], {"retry_at": claim["retry_at"]})
    return task


def rated_path(task: Row, ratings: Sequence[int | None]) -> list[Row]:
    """The path of a submission with a rating of the first completion at each position, up to where the scheme stops."""
    steps = task["solution"]["steps"]
    stops = task["scheme"]["stop_at_first_error"]
    end = list(ratings).index(-1) + 1 if stops and -1 in ratings else len(steps)
    if not end <= len(ratings) <= len(steps):
        raise ValueError(f"The task has {len(steps)} positions, but there are {len(ratings)} ratings.")
    path = []
    for at, rating in zip(steps[:end], ratings, strict=False):
        step = at["alternatives"][0]["id"]
        state = "unsure" if rating is None else "rated"
        ends = stops and rating == -1
        rated = {"step": step, "state": state, "rating": rating}
        path.append({"position": at["position"], "chosen": None if ends else step, "ratings": [rated]})
    return path


def _path(project: str, rest: str = "") -> str:
    return f"projects/{quote(project, safe='')}/{rest}"


def _query(fields: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Query parameters: a list repeats its name, and None is left out."""
    named = ((name, value if isinstance(value, list | tuple) else [value]) for name, value in fields.items())
    return [(name, _text(value)) for name, values in named for value in values if value is not None]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _to_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _object(response: httpx2.Response) -> Row:
    return msgspec.json.decode(response.content, type=Row) if response.content else {}


def _checked(response: httpx2.Response) -> httpx2.Response:
    """The response, unless it is an error, which is raised. A proxy's error has no code of the API."""
    if response.status_code < 300:
        return response
    response.read()
    try:
        body = msgspec.json.decode(response.content, type=Row)
        raise ApiError(body["code"], body["message"], body["extra"], status=response.status_code)
    except (msgspec.DecodeError, msgspec.ValidationError, KeyError):
        code = UNREACHABLE if response.status_code in LOST else "unexpected_response"
        message = f"The server answered with status {response.status_code}: {response.text[:200]}"
        raise ApiError(code, message, status=response.status_code) from None
