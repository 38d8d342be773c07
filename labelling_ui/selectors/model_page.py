"""One model version as its page shows it: figures by domain, where it came from, what happened to it."""

from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from markdown_it import MarkdownIt

from annotation.core import wording
from annotation.loop.gateway.training import model_path
from annotation.models import AuditEntry, ModelVersion
from labelling_ui.numbers import decimal
from prm.evaluation import Metric

METRICS = [
    ("processbench_f1", gettext_lazy("ProcessBench F1")),
    ("first_error_accuracy", gettext_lazy("Exact first error")),
    ("step_auroc", gettext_lazy("Step AUROC")),
    ("index_auroc", gettext_lazy("by position alone")),
    ("step_auprc", gettext_lazy("Step AUPRC")),
    ("ece", gettext_lazy("Calibration error")),
]
ACTIONS = {
    "model.register": gettext_lazy("registered"),
    "model.judge": gettext_lazy("judged by the gate"),
    "model.promote": gettext_lazy("made champion"),
    "model.confirm": gettext_lazy("confirmed without a measurement"),
    "model.serve_domain": gettext_lazy("chosen for a domain"),
    "model.pin": gettext_lazy("pinned"),
    "model.unpin": gettext_lazy("unpinned"),
    "model.delete_weights": gettext_lazy("weights deleted"),
    "model.audit": gettext_lazy("audits asked for"),
    "model.audit.done": gettext_lazy("audited"),
    "model.audit.cancel": gettext_lazy("audits told to stop"),
    "model.audit.cancelled": gettext_lazy("audits cancelled"),
    "model.audit.failed": gettext_lazy("could not be audited"),
    "model.export": gettext_lazy("export asked for"),
    "model.export.done": gettext_lazy("exported"),
    "model.export.cancel": gettext_lazy("export told to stop"),
    "model.export.cancelled": gettext_lazy("export cancelled"),
    "model.export.failed": gettext_lazy("could not be exported"),
    "model.import.done": gettext_lazy("imported"),
    "model.import.failed": gettext_lazy("could not be imported"),
    "pool.rescore": gettext_lazy("pool scored anew"),
    "pool.disagree": gettext_lazy("stored scores did not agree"),
    "pool.failed": gettext_lazy("could not score the pool"),
    "pool.cancel": gettext_lazy("cancellation of pool scoring requested"),
    "pool.cancelled": gettext_lazy("scoring of the pool cancelled"),
    "pool.resume": gettext_lazy("scoring of the pool resumed"),
}
# No raw HTML: a card quotes what people wrote.
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True)
class MetricRow:
    """The metrics of one slice of the holdout, in the order of METRICS."""

    name: str
    solutions: int
    metrics: list[Metric]


def metric_rows(version: ModelVersion) -> list[MetricRow]:
    """The whole holdout first, then its domains; empty if the version was not measured."""
    report = version.metrics.challenger
    if report is None:
        return []
    slices = {_("all domains"): report.overall} | dict(sorted(report.by_domain.items()))
    return [
        MetricRow(name, measured.n_solutions, [getattr(measured, metric) for metric, _label in METRICS])
        for name, measured in slices.items()
    ]


def facts_of(version: ModelVersion) -> list[tuple[str, str]]:
    """What the manifest says, in the order in which a reader asks."""
    manifest = version.shown_manifest
    config = manifest.get("config", {})
    counts = manifest.get("counts", {})
    facts = [
        (_("base"), manifest.get("base")),
        (_("lane"), config.get("lane")),
        (_("heads"), config.get("heads")),
        (_("seed"), config.get("seed")),
        (_("labelled solutions"), counts.get("solutions")),
        (_("temperature"), _rounded(manifest.get("temperature"))),
        (_("first-error threshold"), _rounded(manifest.get("threshold"))),
        (_("code"), manifest.get("versions", {}).get("prm")),
        (_("torch"), manifest.get("versions", {}).get("torch")),
        (_("backbone SHA-256"), (manifest.get("base_sha256") or "")[:16]),
        (_("weights SHA-256"), version.sha256[:16]),
    ]
    return [(name, str(value)) for name, value in facts if value not in (None, "")]


def parent_of(version: ModelVersion) -> ModelVersion | None:
    """The champion that it was measured against."""
    number = version.metrics.champion
    return version.project.model_versions.filter(number=number).first() if number is not None else None


def history_of(version: ModelVersion) -> QuerySet[AuditEntry]:
    """The version's audit rows, latest first; another version's promotion shows that it was replaced."""
    own = Q(target_type="modelversion", target_id=str(version.pk))
    replaced = Q(action="model.promote", project=version.project, before__champion=version.number)
    rows = AuditEntry.objects.filter(own | replaced).exclude(action="pool.done")  # whenever solutions come
    return rows.select_related("by").order_by("-pk")


def describe_entry(entry: AuditEntry, version: ModelVersion) -> str:
    """An audit row in words."""
    if entry.action == "model.promote" and entry.target_id != str(version.pk):
        return _("replaced by model %(n)s") % {"n": entry.after.get("champion")}
    phrase = str(ACTIONS.get(entry.action, entry.action))
    detail = next(filter(None, (wording.message_of(entry.after, name) for name in ("verdict", "reason", "error"))), "")
    domain = entry.after.get("domain")
    return ": ".join([phrase, *([f"“{domain}”"] if domain else []), *([wording.in_words(detail)] if detail else [])])


def card_of(version: ModelVersion) -> str:
    """The model card as HTML; empty where none was written."""
    path = model_path(version) / "CARD.md"
    return MARKDOWN.render(path.read_text()) if path.is_file() else ""


def _rounded(value: float | None) -> str | None:
    return None if value is None else decimal(value, 3)
