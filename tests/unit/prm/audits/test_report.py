"""The report as a page, as JSON and as Markdown, and the command that makes it."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from prm.__main__ import main
from prm.audits import AUDITS, run_audits
from prm.audits.page import draw, report_page
from prm.audits.report import AuditReport, audit_summary
from prm.files import write_json
from prm.messages import Message, from_json
from prm.traces import write_traces
from tests.plugins.extensions import InstallExtension
from tests.unit.prm.audits.sums import make_sums, perfect, subject_of
from tests.unit.prm.small_world import make_traces


@pytest.fixture(scope="module")
def report() -> AuditReport:
    return run_audits(subject_of(perfect, make_sums(120), bootstrap=50), model="a <b>model</b>", data="sums | more")


@pytest.fixture(scope="module")
def html(report: AuditReport) -> str:
    return report_page(report)


class Reader(HTMLParser):
    """Collects ids, references and elements; raises nothing, so the assertions do."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.references: list[str] = []
        self.elements: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "xlink:href", "src"):
                self.references.append(value or "")


def test_the_page_is_whole_in_itself(report: AuditReport, html: str) -> None:
    read = Reader(html)
    assert {"script", "link", "img", "iframe"} & set(read.elements) == set()
    assert read.elements.count("section") == len(AUDITS)
    assert read.elements.count("svg") == sum(len(finding.charts) for finding in report.findings) > 8
    assert len(read.ids) == len(set(read.ids))
    assert {reference.removeprefix("#") for reference in read.references} <= set(read.ids)


def test_the_page_takes_its_colours_from_the_theme_and_no_names_as_markup(html: str) -> None:
    pictures = "".join(re.findall(r"<svg.*?</svg>", html, re.DOTALL))
    assert re.findall(r"#[0-9a-f]{6}\b", pictures) == []
    assert "prefers-color-scheme: dark" in html
    assert "a &lt;b&gt;model&lt;/b&gt;" in html
    assert "<b>model" not in html


def test_the_same_audit_finds_and_draws_the_same(report: AuditReport) -> None:
    again = run_audits(subject_of(perfect, make_sums(120), bootstrap=50), model=report.model, data=report.data)
    assert again == report
    charts = [finding.charts[0] for finding in (report.findings[0], again.findings[0])]
    assert draw(charts[0], "a") == draw(charts[1], "a")


def test_an_audit_alone_finds_what_it_finds_among_others(report: AuditReport) -> None:
    subject = subject_of(perfect, make_sums(120), bootstrap=50)
    [alone] = run_audits(subject, model="m", data="d", names=["gaming"]).findings
    assert alone == next(finding for finding in report.findings if finding.audit == "gaming")


def test_the_report_survives_json(report: AuditReport, tmp_path: Path) -> None:
    write_json(tmp_path / "report.json", report)
    back = msgspec.json.decode((tmp_path / "report.json").read_bytes(), type=AuditReport)
    assert back == report
    for finding in back.findings:
        told = {name: from_json(kept) for name, kept in finding.messages.items()}
        assert told == {"title": finding.title, "sentence": finding.sentence}
        assert all(isinstance(one, Message) for one in told.values())


def test_the_summary_is_a_row_an_audit(report: AuditReport) -> None:
    rows = [line for line in audit_summary(report).splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(AUDITS)
    assert all(row.count(" | ") == 2 for row in rows)


def test_the_command_writes_all_three(tmp_path: Path, backbone_folders: dict[str, Path]) -> None:
    data = tmp_path / "data.jsonl"
    write_traces(data, make_traces(30, seed=1))
    out = tmp_path / "out"
    model = f"zero:{backbone_folders['llama']}"
    arguments = ["audit", "--model", model, "--data", str(data), "--out", str(out), "--bootstrap", "20"]
    assert main([*arguments, "--only", "position", "calibration", "--limit", "25"]) == 0
    report = msgspec.json.decode((out / "report.json").read_bytes(), type=AuditReport)
    assert [finding.audit for finding in report.findings] == ["position", "calibration"]
    assert report.n_solutions == 25
    assert sorted(path.name for path in out.iterdir()) == ["AUDIT.md", "report.html", "report.json"]


GUIDE = (Path(__file__).parents[4] / "docs" / "reference" / "extending.md").read_text()


def test_a_package_outside_adds_an_audit(
    tmp_path: Path, backbone_folders: dict[str, Path], install_extension: InstallExtension
) -> None:
    [example] = re.findall(r"^## An audit\n.*?^```python\n(.*?)^```", GUIDE, re.M | re.S)
    install_extension("size_audit", example, AUDITS)
    data, out = tmp_path / "data.jsonl", tmp_path / "out"
    write_traces(data, make_traces(25, seed=1))
    model = f"zero:{backbone_folders['llama']}"
    arguments = ["audit", "--model", model, "--data", str(data), "--out", str(out), "--bootstrap", "20"]
    assert main([*arguments, "--only", "size"]) == 0
    report = msgspec.json.decode((out / "report.json").read_bytes(), type=AuditReport)
    assert [(finding.title, finding.verdict) for finding in report.findings] == [("Size", "ok")]
    assert "It is enough." in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            ["--only", "colour"],
            "There is no audit 'colour'. Choose one of: outcome, gaming",
        ),
        (["--training", "nowhere.jsonl"], "nowhere.jsonl: no such file"),
        ([], "no solution has a known first error"),
    ],
)
def test_what_cannot_be_audited_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    data = tmp_path / "data.jsonl"
    write_traces(data, [msgspec.structs.replace(t, labels=None, first_error=None) for t in make_traces(3, seed=1)])
    assert main(["audit", "--model", "zero:tiny", "--data", str(data), "--out", str(tmp_path / "out"), *more]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_verdicts_need_resamples(capsys: pytest.CaptureFixture[str]) -> None:
    """Without any, each verdict that needs an interval said that there are too few errors."""
    arguments = ["audit", "--bootstrap", "0", "--model", "zero:tiny", "--data", "data.jsonl", "--out", "out"]
    with pytest.raises(SystemExit):
        main(arguments)
    assert "--bootstrap: '0' is not a whole number of at least 1" in capsys.readouterr().err


def test_neither_the_command_nor_traces_load_what_only_a_report_needs() -> None:
    code = "import sys, prm.traces, prm.__main__; print({'torch', 'matplotlib', 'jinja2'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "set()"
