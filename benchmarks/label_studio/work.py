"""The interface of both sides of the comparison."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol


class Request(NamedTuple):
    """A request of a client."""

    method: str
    path: str
    body: bytes = b""


class Task(NamedTuple):
    """The id of a claimed task, and the request that submits its ratings."""

    id: int
    submit: Request


class Side(Protocol):
    """A running labelling platform; a project's name is the result of `make_project`.

    `people` are the `Authorization` headers of its annotators, `processes` the ids of its processes.
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

    def claimed(self, project: str, body: bytes, *, together: bool = False) -> Task: ...

    def export(self, project: str) -> int: ...

    def delete_as_member(self, project: str) -> int: ...
