"""A JUnit report is read wherever a test runner puts its test cases."""

import io

import pytest

from prm.formats.reading import Unreadable
from prm.formats.suite_results import Case, read_cases


def test_a_test_case_outside_a_suite_is_read():
    report = b"""<testsuites><testcase classname="s1"/><testsuite name="s2">
        <group><testcase><failure/></testcase></group><testcase/></testsuite></testsuites>"""
    assert list(read_cases(io.BytesIO(report))) == [Case(("s1",), True), Case(("s2",), False), Case(("s2",), True)]


def test_another_report_is_refused():
    with pytest.raises(Unreadable, match="<html>"):
        list(read_cases(io.BytesIO(b"<html><testcase/></html>")))
