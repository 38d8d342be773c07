"""Consensus fits as jobs: the latest fit of a project, and a new one when its labels have changed."""

import hashlib
import time
from collections.abc import Mapping
from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.lifecycle import beating_apart, run_job, send
from annotation.core.membership.access import require_role
from annotation.core.periodic import for_each
from annotation.core.reading import find_row
from annotation.core.replica import read_current
from annotation.labels.consensus.evidence import read_evidence
from annotation.labels.consensus.fit_report import report_fit
from annotation.labels.datasets.filters import SnapshotFilters
from annotation.labels.datasets.record_stream import one_moment, stream_records
from annotation.models import Annotation, ConsensusFit, LabelBatch, Membership, Project, Solution
from annotation.models.consensus_fit import LabelsSeen
from annotation.work.gold.designation import hidden_gold
from prm.consensus import CONSENSUS, Evidence, Place
from prm.formats.record import Consensus
from prm.messages import Message

State = ConsensusFit.State
GROWTH = 0.02  # share of new labels from which the schedule fits again
DIGITS = 6  # of a parameter
WAIT_SECONDS = 0.5  # between two looks at a fit that another worker makes
Scope = tuple[str, list[str]]  # the method, and the source kinds (sorted; empty for all)


def scope_of(project: Project) -> Scope:
    """The scope of the project's own fits: the method and the source kinds that its policy trains on."""
    policy = project.policies
    return policy.quality.consensus, sorted(policy.training_sources)


def latest_fit(project: Project, scope: Scope | None = None) -> ConsensusFit | None:
    """The latest fit that is done, of the project's own scope by default."""
    method, source_kinds = scope or scope_of(project)
    done = project.consensus_fits.filter(state=State.DONE, method=method, source_kinds=source_kinds)
    return done.order_by("-number").first()


def find_fit(project: Project, number: int) -> ConsensusFit:
    """The fit of this number, done. Raises Missing (`fit_not_found`)."""
    fits = project.consensus_fits.filter(number=number, state=State.DONE)
    return find_row(fits, Message("fit_not_found", number=number))


def filters_scope(filters: SnapshotFilters) -> Scope:
    """The scope of the fit for labels that pass these filters."""
    return filters.consensus, sorted({*filters.source_kinds})


def choose_fit(*, by: User | None, project: Project, filters: SnapshotFilters) -> ConsensusFit | None:
    """The fit for a snapshot with these filters: the one that they name, else `fit_for`; None if nothing is learned.

    Raises Missing (`fit_not_found`), DomainError (`fit_of_other_labels`, `fit_failed`).
    """
    if filters.fit is not None:
        return present_fit(project, filters)
    learns = CONSENSUS.get(filters.consensus).learns
    return fit_for(by=by, project=project, scope=filters_scope(filters)) if learns else None


def present_fit(project: Project, filters: SnapshotFilters) -> ConsensusFit | None:
    """The fit that the filters name, else the latest one of their scope; None if there is none.

    Raises Missing (`fit_not_found`), DomainError (`fit_of_other_labels`).
    """
    if filters.fit is None:
        return latest_fit(project, filters_scope(filters))
    fit = find_fit(project, filters.fit)
    if fit.scope != filters_scope(filters):
        kinds = ", ".join(fit.source_kinds) or "all"
        raise DomainError(Message("fit_of_other_labels", number=fit.number, method=fit.method, kinds=kinds))
    return fit


def consensus_on(solution: Solution) -> tuple[ConsensusFit | None, dict[Place, Consensus]]:
    """The consensus on each completion of a solution under its project's latest fit; vote shares without one."""
    fit = latest_fit(solution.project)
    filters = SnapshotFilters(source_kinds=fit.source_kinds if fit else [])
    records = stream_records(project=solution.project, filters=filters, fit=fit, among=[solution.pk])
    return fit, {(step.position, step.alternative): step for record in records for step in record.consensus}


def labels_seen(project: Project) -> LabelsSeen:
    """The state of the project's labels now."""
    counts = project.annotations.aggregate(labels=Count("pk"), latest=Max("pk"))
    batches = project.label_batches.filter(state=LabelBatch.State.SET_ASIDE).order_by("pk").values_list("pk", flat=True)
    gold = hidden_gold(project).order_by("annotation").values_list("annotation", flat=True)
    decisions = msgspec.json.encode([list(batches), list(gold)])
    return LabelsSeen(counts["labels"], counts["latest"] or 0, hashlib.sha256(decisions).hexdigest())


@transaction.atomic
def request_fit(*, by: User, project: Project) -> ConsensusFit:
    """Enqueue a fit of the project's own scope.

    Raises Forbidden, DomainError (`fit_not_needed`: the method does not learn), Conflict (`fit_running`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    scope = scope_of(project)
    if not CONSENSUS.get(scope[0]).learns:
        raise DomainError(Message("fit_not_needed", method=scope[0]))
    fit, created = _take_turn(project, scope, by)
    if not created:
        raise Conflict(Message("fit_running", number=fit.number))
    send(fit)
    return fit


def request_due_fits() -> int:
    """Enqueue a fit of every project whose labels have grown by GROWTH, or changed otherwise; returns how many.

    Snapshots do not depend on it: each makes a fit of the labels that it sees.
    """
    return for_each(Project.objects.all(), _request_if_due)


def fit_for(*, by: User | None, project: Project, scope: Scope) -> ConsensusFit:
    """The fit that has seen the project's labels as they are now. Makes it in this process if there is none.

    It waits for a fit that a worker makes. Raises DomainError (`fit_failed`).
    """
    seen = labels_seen(project)
    while True:
        fit = latest_fit(project, scope)
        if fit is not None and fit.seen == seen:
            return fit
        turn, _ = _take_turn(project, scope, by)
        job = run_job(ConsensusFit, turn.pk, _perform)
        if job is None:
            time.sleep(WAIT_SECONDS)
        elif job.state != State.DONE:
            raise DomainError(Message("fit_failed", number=job.number, reason=job.error), code=job.failure)
        elif job.scope == scope:
            return job


def run_fit(job_id: int) -> None:
    """Make the fit. Does nothing if another worker has it, or if it has ended."""
    run_job(ConsensusFit, job_id, _perform)


@transaction.atomic
def _take_turn(project: Project, scope: Scope, by: User | None) -> tuple[ConsensusFit, bool]:
    """The project's fit that is queued or running, else a new one, and whether it is new."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if live := project.consensus_fits.filter(state__in=ConsensusFit.LIVE).first():
        return live, False
    method, source_kinds = scope
    last = project.consensus_fits.aggregate(last=Max("number"))["last"] or 0
    fit = ConsensusFit.objects.create(
        project=project,
        requested_by=by,
        number=last + 1,
        method=method,
        source_kinds=source_kinds,
        previous=latest_fit(project, scope),
        seen=labels_seen(project),
    )
    audit.record(by=by, action="fit.start", target=fit, after={"number": fit.number, "method": method})
    return fit, True


def _request_if_due(project: Project) -> bool:
    scope = scope_of(project)
    if scope[0] not in CONSENSUS or not CONSENSUS.get(scope[0]).learns:
        return False
    method, source_kinds = scope
    last = project.consensus_fits.filter(method=method, source_kinds=source_kinds).order_by("-number").first()
    now, seen = labels_seen(project), last.seen if last else LabelsSeen()
    if now.labels == 0 or (last and now.decisions == seen.decisions and now.labels <= seen.labels * (1 + GROWTH)):
        return False
    fit, created = _take_turn(project, scope, None)
    if created:
        send(fit)
    return created


def _perform(job: ConsensusFit) -> None:
    if job.sha256:  # an earlier attempt was stopped after it had stored the result
        return
    model, start = CONSENSUS.get(job.method), job.previous.parameters if job.previous else None
    job.total = job.project.solutions.filter(Exists(Annotation.objects.filter(solution=OuterRef("pk")))).count()
    job.save(update_fields=["total"])
    with beating_apart(job) as beat_apart:

        def watch(solutions: int) -> None:
            job.done += solutions
            beat_apart(done=job.done)

        def read() -> Evidence:
            job.done = 0
            with one_moment():
                job.seen = labels_seen(job.project)
                return read_evidence(job.project, job.source_kinds, watch)

        evidence = read_current(read)
        job.done = job.total  # also the solutions without a label that the fit uses
        beat_apart(done=job.done)
        fit = model.estimate(evidence, start=start)
        job.parameters = _rounded(fit.parameters) if fit else None
        beat_apart()
        before = job.previous.learned if job.previous else None
        job.report = report_fit(model.estimate, evidence, job.learned, before)
    job.sha256 = hashlib.sha256(msgspec.json.encode([*job.scope, job.parameters], order="sorted")).hexdigest()
    job.save(update_fields=["seen", "parameters", "report", "sha256", "done"])


def _rounded(value: Any) -> Any:
    """The plain values with DIGITS digits, so that the same labels give the same fit on any machine."""
    if isinstance(value, Mapping):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
