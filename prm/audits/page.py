"""The report as one HTML file that needs nothing else: no script, no font, no picture beside it."""

from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from prm.audits.finding import Figure, Finding
from prm.audits.pictures import draw
from prm.audits.report import AuditReport
from prm.evaluation.metrics import in_parts

TEMPLATE = "report.html.j2"


def report_page(report: AuditReport) -> str:
    """The whole report: verdicts first, then each audit with its checks, pictures and numbers."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.globals |= {"in_parts": in_parts, "pictures": _pictures, "tables": _tables}
    return environment.get_template(TEMPLATE).render(report=report)


def _pictures(finding: Finding) -> list[tuple[str, Markup]]:
    """Title and picture of every chart; matplotlib escapes the texts within."""
    return [(chart.title, Markup(draw(chart, f"{finding.audit}-{k}"))) for k, chart in enumerate(finding.charts)]


def _tables(finding: Finding) -> list[tuple[str, bool, list[Figure]]]:
    """Figures by group, and whether the group has baselines."""
    groups = [(name, list(figures)) for name, figures in groupby(finding.figures, key=lambda figure: figure.group)]
    return [(name, any(figure.index_only for figure in figures), figures) for name, figures in groups]
