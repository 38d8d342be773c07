"""Model versions in figures: holdout metrics with their intervals, facts of the manifest, and the history."""

import json
from typing import Any

import msgspec
from django.db.models import Q, QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from markdown_it import MarkdownIt

from annotation.core import wording
from annotation.loop.gateway.training import model_path
from annotation.models import AuditEntry, ModelVersion
from labelling_ui.numbers import decimal
from labelling_ui.templatetags.figures import percent
from prm.threshold import Threshold

ACTIONS = {
    "model.register": _("registered"),
    "model.judge": _("judged by the gate"),
    "model.promote": _("made champion"),
    "model.confirm": _("confirmed without a measurement"),
    "model.serve_domain": _("chosen for a domain"),
    "model.pin": _("pinned"),
    "model.unpin": _("unpinned"),
    "model.delete_weights": _("weights deleted"),
    "model.audit": _("audits requested"),
    "model.audit.done": _("audited"),
    "model.audit.cancel": _("cancellation of the audits requested"),
    "model.audit.cancelled": _("audits cancelled"),
    "model.audit.failed": _("could not be audited"),
    "model.audit.resume": _("audits resumed"),
    "model.export": _("export requested"),
    "model.export.done": _("exported"),
    "model.export.cancel": _("cancellation of the export requested"),
    "model.export.cancelled": _("export cancelled"),
    "model.export.failed": _("could not be exported"),
    "model.export.resume": _("export resumed"),
    "model.import": _("import requested"),
    "model.import.cancel": _("cancellation of the import requested"),
    "model.import.cancelled": _("import cancelled"),
    "model.import.done": _("imported"),
    "model.import.failed": _("could not be imported"),
    "model.import.resume": _("import resumed"),
    "pool.done": _("pool scored"),
    "pool.rescore": _("pool scored again"),
    "pool.disagree": _("stored scores differed"),
    "pool.failed": _("could not score the pool"),
    "pool.cancel": _("cancellation of pool scoring requested"),
    "pool.cancelled": _("scoring of the pool cancelled"),
    "pool.resume": _("scoring of the pool resumed"),
}
FACTS = ("base", "lane", "heads", "seed")  # training options that `facts_of` shows
# No raw HTML: a card quotes what people wrote.
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def metric_rows(version: ModelVersion) -> list[dict[str, Any]]:
    """The metrics on the whole holdout, then on each of its domains if there are several; empty if not measured."""
    report = version.metrics.challenger
    if report is None:
        return []
    domains = report.by_domain if len(report.by_domain) > 1 else {}
    slices = {gettext("all domains"): report.overall} | dict(sorted(domains.items()))
    return [{"domain": name, **msgspec.structs.asdict(metrics)} for name, metrics in slices.items()]


def facts_of(version: ModelVersion) -> list[tuple[str, str]]:
    """Facts from the manifest, the most important first."""
    manifest = version.shown_manifest
    config = manifest.get("config", {})
    counts = manifest.get("counts", {})
    facts = [
        (gettext("base"), manifest.get("base")),
        (gettext("lane"), config.get("lane")),
        (gettext("heads"), config.get("heads")),
        (gettext("seed"), config.get("seed")),
        (gettext("labelled solutions"), counts.get("solutions")),
        *_graded(manifest.get("graded")),
        *_estimated(manifest.get("estimated")),
        (gettext("temperature"), _rounded(manifest.get("temperature"))),
        (gettext("first-error threshold"), _limit(version.threshold)),
        (gettext("code"), manifest.get("versions", {}).get("prm")),
        (gettext("torch"), manifest.get("versions", {}).get("torch")),
        (gettext("backbone SHA-256"), (manifest.get("base_sha256") or "")[:16]),
        (gettext("weights SHA-256"), version.sha256[:16]),
    ]
    return [(name, str(value)) for name, value in facts if value not in (None, "")]


def options_that_differ(one: ModelVersion, other: ModelVersion) -> list[tuple[str, str, str]]:
    """The training options that differ, apart from FACTS, each with both values as a manager types them."""
    first, second = (version.shown_manifest.get("config", {}) for version in (one, other))
    return [
        (name, json.dumps(value), json.dumps(second[name]))
        for name, value in first.items()
        if name in second and value != second[name] and name not in FACTS
    ]


def _graded(graded: dict[str, Any] | None) -> list[tuple[str, str]]:
    """The unread solutions that taught by their grade, and how often grades misled among the labelled ones."""
    if not graded:
        return []
    noise = graded["noise"]
    sides = gettext("%(right)s right, %(wrong)s wrong") % {name: decimal(graded[name]) for name in ("right", "wrong")}
    return [
        (gettext("graded solutions that nobody had read"), sides),
        (gettext("right answers despite an error"), _by_domain(noise, "right_despite_error")),
        (gettext("wrong answers without an error"), _by_domain(noise, "wrong_without_error")),
    ]


def _estimated(estimated: dict[str, Any] | None) -> list[tuple[str, str]]:
    """The unread solutions that taught by Monte Carlo estimates, and how often estimates misled among labelled ones."""
    if not estimated:
        return []
    taught = gettext("%(solutions)s solutions, %(steps)s steps") % {
        name: decimal(estimated[name]) for name in ("solutions", "steps")
    }
    return [
        (gettext("Monte Carlo estimates"), taught),
        (gettext("right rollouts despite an error"), _by_domain(estimated["noise"], "right_despite_error")),
        (gettext("no right rollout without an error"), _by_domain(estimated["noise"], "wrong_without_error")),
    ]


def _by_domain(noise: dict[str, Any], name: str) -> str:
    """A share over all solutions, and in each domain if there are several."""
    shares = [f"{domain}: {percent(rates[name], 1)}" for domain, rates in sorted(noise["domains"].items())]
    return percent(noise["overall"][name], 1) + (f" ({', '.join(shares)})" if len(shares) > 1 else "")


def parent_of(version: ModelVersion) -> ModelVersion | None:
    """The champion that the version was measured against."""
    number = version.metrics.champion
    return version.project.model_versions.filter(number=number).first() if number is not None else None


def history_of(version: ModelVersion) -> QuerySet[AuditEntry]:
    """The version's audit rows, latest first, with the promotion of the version that replaced it."""
    own = Q(target_type="modelversion", target_id=str(version.pk))
    replaced = Q(action="model.promote", project=version.project, before__champion=version.number)
    rows = AuditEntry.objects.filter(own | replaced).exclude(action="pool.done")  # whenever solutions come
    return rows.select_related("by").order_by("-pk")


def describe_entry(entry: AuditEntry, version: ModelVersion) -> str:
    """An audit row in words."""
    if entry.action == "model.promote" and entry.target_id != str(version.pk):
        return gettext("replaced by model %(n)s") % {"n": entry.after.get("champion")}
    phrase = str(ACTIONS.get(entry.action, entry.action))
    detail = next(filter(None, (wording.message_of(entry.after, name) for name in ("verdict", "reason", "error"))), "")
    domain = entry.after.get("domain")
    return ": ".join([phrase, *([f"“{domain}”"] if domain else []), *([wording.in_words(detail)] if detail else [])])


def card_of(version: ModelVersion) -> str:
    """The model card as HTML; empty if there is none."""
    path = model_path(version) / "CARD.md"
    return MARKDOWN.render(path.read_text()) if path.is_file() else ""


def _limit(threshold: Threshold | None) -> str | None:
    if threshold is None or threshold.steps is None:
        return None if threshold is None else decimal(threshold.value, 3)
    values = {"value": decimal(threshold.value, 3), "n": threshold.steps}
    return gettext("%(value)s in solutions of up to %(n)s steps, lower in longer ones") % values


def _rounded(value: float | None) -> str | None:
    return None if value is None else decimal(value, 3)
