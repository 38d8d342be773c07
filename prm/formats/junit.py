"""JUnit XML, as pytest and most other test runners write it: how many tests passed and failed, by solution.

Which solution a test is of stands in a property `solution` of the test or its suite, else in the suite's name or in
the test's class name: both are given, and who knows the ids decides. Entities and DTDs are refused.
"""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from prm.formats.reading import Unreadable
from prm.messages import Message

PROPERTY = "solution"


class Case(NamedTuple):
    """One test: `names` are what its solution may be called, the surest first; a skipped one's `passed` is None."""

    names: tuple[str, ...]
    passed: bool | None


def read_cases(stream: BinaryIO) -> Iterator[Case]:
    """Stream the tests of a report. Raises Unreadable where it is none, or breaks off."""
    suites: list[Element] = []
    try:
        for event, element in iterparse(stream, events=("start", "end"), forbid_dtd=True):
            if element.tag == "testsuite":
                suites.append(element) if event == "start" else suites.pop()
            elif event == "start" and not suites and element.tag != "testsuites":
                raise Unreadable("", Message("not_a_junit_report", tag=element.tag))
            elif event == "end" and element.tag == "testcase":
                yield Case(tuple(_names(element, suites)), _passed(element))
                suites[-1].remove(element)
    except (ParseError, DefusedXmlException) as error:
        raise Unreadable("", Message("report_unreadable", error=error)) from None


def _names(case: Element, suites: list[Element]) -> Iterator[str]:
    for element in (case, *reversed(suites)):
        found = element.findall(f"properties/property[@name='{PROPERTY}']")
        yield from (value for one in found if (value := one.get("value") or one.text or ""))
    yield from (name for suite in reversed(suites) if (name := suite.get("name", "")))
    if name := case.get("classname", ""):
        yield name


def _passed(case: Element) -> bool | None:
    if case.find("failure") is not None or case.find("error") is not None:
        return False
    return None if case.find("skipped") is not None else True
