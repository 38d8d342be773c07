"""Reads test results by solution: JUnit XML, as pytest and most other test runners write it, and JSON Lines."""

from collections.abc import Iterator
from typing import Annotated, BinaryIO, NamedTuple
from xml.etree.ElementTree import Element, ParseError

import msgspec
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from prm.formats.raw import MAX_RECORD_BYTES
from prm.formats.reading import Unreadable, validation_fault
from prm.messages import Message

PROPERTY = "solution"


class Case(NamedTuple):
    """One test: `names` are possible names of its solution, the surest first; `passed` is None if it was skipped."""

    names: tuple[str, ...]
    passed: bool | None


def read_cases(stream: BinaryIO) -> Iterator[Case]:
    """Stream the tests of a JUnit report. Raises Unreadable for another or incomplete file, entities and DTDs.

    A test's solution is the property `solution` of the test or its suite, else the suite's name or the test's class
    name. All are yielded, and the caller, who knows the ids, decides.
    """
    inside: list[Element] = []  # from the root down
    try:
        for event, element in iterparse(stream, events=("start", "end"), forbid_dtd=True):
            if event == "start":
                if not inside and element.tag not in ("testsuites", "testsuite"):
                    raise Unreadable("", Message("not_a_junit_report", tag=element.tag))
                inside.append(element)
                continue
            inside.pop()
            if element.tag == "testcase":
                failed = element.find("failure") is not None or element.find("error") is not None
                skipped = element.find("skipped") is not None
                suites = [outer for outer in inside if outer.tag == "testsuite"]
                yield Case(tuple(_names(element, suites)), False if failed else None if skipped else True)
                if inside:
                    inside[-1].remove(element)  # memory does not grow with the report
    except (ParseError, DefusedXmlException) as error:
        raise Unreadable("", Message("report_unreadable", error=error)) from None


def _names(case: Element, suites: list[Element]) -> Iterator[str]:
    for element in (case, *reversed(suites)):
        properties = element.findall(f"properties/property[@name='{PROPERTY}']")
        yield from (value for one in properties if (value := one.get("value") or one.text or ""))
    yield from (name for suite in reversed(suites) if (name := suite.get("name", "")))
    if name := case.get("classname", ""):
        yield name


Count = Annotated[int, msgspec.Meta(ge=0)]


class Tally(msgspec.Struct):
    """How many tests of a solution passed and failed."""

    id: str
    passed: int = 0
    failed: int = 0


class _Line(msgspec.Struct):
    id: str | int
    passed: bool | Count
    failed: Count = 0
    errors: Count = 0


def read_tallies(stream: BinaryIO) -> Iterator[tuple[int, Tally | Unreadable]]:
    """Stream (line, tally or error) of JSON Lines: `{"id": ..., "passed": 7, "failed": 0}`.

    `passed` may also be true or false, as in HumanEval. `errors` count as failed; `skipped` and other keys are ignored.
    """
    decoder = msgspec.json.Decoder(_Line)
    line = 0
    while raw := stream.readline(MAX_RECORD_BYTES):
        line += 1
        if raw.isspace():
            continue
        try:
            read = decoder.decode(raw)
        except msgspec.ValidationError as error:
            yield line, Unreadable(*validation_fault(error))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            yield line, Unreadable("", Message("record_not_json", error=error))
        else:
            missed = read.passed is False  # `passed` is then a verdict, not a count
            yield line, Tally(str(read.id), int(read.passed), int(missed) + read.failed + read.errors)
