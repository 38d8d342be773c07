"""The address of every page of the site, found in the URL patterns."""

import uuid
from collections.abc import Iterator
from typing import Any

from allauth.account import urls as account_urls
from django.urls import URLPattern, URLResolver, reverse
from django.utils import timezone

from annotation.core.webhooks.events import EVENTS
from annotation.labels.consensus.fits import fit_for, scope_of
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import (
    ExportJob,
    ImportJob,
    JudgingRun,
    Project,
    SamplingRun,
    ServedScore,
    SimulationRun,
    TrainingRun,
    Webhook,
)
from labelling_ui import urls
from labelling_ui.pages.settings.views import PAGES as SETTINGS
from tests.factories import MachineAnnotatorFactory, SnapshotFactory

# What answers with a file.
FILES = {
    "import-originals",
    "model-audit-page",
    "model-exported",
    "run-artefact",
    "run-log",
    "simulation-picture",
    "simulation-report",
    "snapshot-card",
    "snapshot-download",
}
# What a page asks for behind its address.
QUERIES = {"model-compare": "?a=1&b=1"}


def rows(project: Project) -> dict[str, list[dict[str, Any]]]:
    """The arguments of the addresses of pages that show one row, by URL name."""
    solution = {"solution_id": project.solutions.order_by("pk").first().pk}
    snapshot = SnapshotFactory(project=project)
    fit = fit_for(by=None, project=project, scope=scope_of(project))
    older, newer = (create_snapshot(by=None, project=project, filters={"min_annotations": n}) for n in (0, 1))
    simulation = SimulationRun.objects.create(
        project=project, snapshot=snapshot, functions=["random"], seeds=2, budget=5, state="running", progress=0.5
    )
    export = ExportJob.objects.create(project=project, target="/exports", state="running", total=9, done=4)
    sampling = SamplingRun.objects.create(project=project, endpoint="e", model="m", seed=4, prompt="Go: {problem}")
    judging = JudgingRun.objects.create(
        project=project, method="judge", endpoint="e", model="m", template="first_error", prompt="{problem} {steps}",
        prompt_version="first_error/1", currency="EUR", seed=4, left_out={"holdout": 3}, solutions=1,
    )  # fmt: skip
    judging.judged.create(solution_id=solution["solution_id"], position=0).calls.create(
        prefix=3, attempt=0, prompt_tokens=90, completion_tokens=20, replies=[{"text": "It is right.", "cut": False}]
    )
    served = ServedScore.objects.create(
        request=uuid.uuid4(),
        project=project,
        route="score",
        aggregate="product",
        text_hash="a" * 64,
        text=["What is 2 + 2?", [["It is 4.", "reasoning"]]],
        mean=[0.9],
        spread=[0.1],
        score=0.9,
        first_suspicious=-1,
        uncertainty=0.1,
        seconds=0.02,
        asked_at=timezone.now(),
    )
    webhook = Webhook.objects.create(
        project=project, url=f"https://{'long' * 12}.example.org/hook", events=[*EVENTS], state="disabled",
        failing_since=timezone.now(), created_by=project.memberships.first().user,
    )  # fmt: skip
    webhook.deliveries.create(
        event="run.done", body="{}" * 99, state="failed", attempts=10, status=503, response="Busy"
    )
    return {
        "revise": [solution],
        "solution": [solution],
        "review-case": [solution],
        "annotator": [{"member_id": project.memberships.get(user__username="annotator").pk}],
        "member": [{"member_id": project.memberships.first().pk}],
        "machine": [{"member_id": MachineAnnotatorFactory(membership__project=project).membership_id}],
        "generation": [{"number": 0}],
        "model": [{"number": 1}],
        "settings-page": [{"name": kind.name} for kind in SETTINGS],
        "api-resource": [{"name": "labels"}, {"name": "snapshots"}, {"name": "jobs"}],
        "consensus-fit": [{"number": fit.number}],
        "contamination": [{"snapshot_id": newer.pk}],
        "export-job": [{"job_id": export.pk}],
        "snapshot-diff": [{"snapshot_id": newer.pk, "old_id": older.pk}],
        "simulation": [{"simulation_id": simulation.pk}],
        "snapshot": [{"snapshot_id": snapshot.pk}],
        "sampling-run": [{"job_id": sampling.pk}],
        "judging-run": [{"run_id": judging.pk}],
        "served-score": [{"row_id": served.pk}],
        "run": [{"number": TrainingRun.objects.earliest("number").number}],
        "webhook": [{"webhook_id": webhook.pk}],
        "import-job": [{"job_id": ImportJob.objects.earliest("pk").pk}],
    }


def patterns(of: list[Any], around: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name of every address with the names of its parts."""
    for one in of:
        pattern = one.pattern
        parts = (*around, *(pattern.converters or pattern.regex.groupindex))
        if isinstance(one, URLResolver):
            yield from patterns(one.url_patterns, parts)
        elif isinstance(one, URLPattern) and one.name:
            yield one.name, parts


def addresses(project: Project) -> list[str]:
    """Every address except those of files.

    A page of one row that `rows` does not name gets id 0, so its address is reported as not found.
    """
    found, known = [], rows(project)
    for name, parts in [*patterns(urls.urlpatterns), *patterns(account_urls.urlpatterns)]:
        for row in [] if name in FILES else known.get(name, [{}]):
            given = {"slug": project.slug, "action": "promote", "key": "none", "uidb36": "1", **row}
            found.append(reverse(name, kwargs={part: given.get(part, 0) for part in parts}) + QUERIES.get(name, ""))
    return found
