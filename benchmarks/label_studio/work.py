"""What both sides of the comparison can do."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol


class Request(NamedTuple):
    """What a client sends."""

    method: str
    path: str
    body: bytes = b""


class Task(NamedTuple):
    """A task that was given out, by its id, and the request that hands its ratings in."""

    id: int
    submit: Request


class Side(Protocol):
    """A labelling platform that runs; projects are named by what `make_project` returned.

    `people` are the values of the header `Authorization` of its annotators, `processes` those that do its work.
    """

    name: str
    address: str
    people: list[str]
    processes: list[int]

    def make_project(self, title: str) -> str: ...

    def content(self, numbers: Iterable[int], *, labelled: bool) -> bytes: ...

    def take_in(self, project: str, content: bytes) -> None: ...

    def open_queue(self, project: str, count: int) -> None: ...

    def claim(self, project: str) -> Request: ...

    def claimed(self, project: str, body: bytes) -> Task: ...

    def export(self, project: str) -> int: ...

    def delete_as_member(self, project: str) -> int: ...
