"""Consensus fits: named, frozen by snapshots, made again when labels change."""

import re

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation.core.errors import Conflict, DomainError, Forbidden, Missing
from annotation.files.record_import import import_records
from annotation.labels.consensus.evidence import read_evidence
from annotation.labels.consensus.fits import (
    choose_fit,
    fit_for,
    labels_seen,
    latest_fit,
    request_due_fits,
    request_fit,
    run_fit,
    scope_of,
)
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.snapshots import create_snapshot, read_snapshot
from annotation.loop.gateway.traces import write_training_traces
from annotation.models import AuditEntry, ConsensusFit, LabelBatch, Snapshot
from annotation.work.gold.designation import mark_gold
from prm.formats.record import Completion, PathPosition, Rating, Record, RecordAnnotation
from prm.formats.trace_files import read_traces
from tests.factories import MembershipFactory
from tests.stored import snapshot_file

pytestmark = pytest.mark.django_db


def rated(name, *ratings, kind="human", **fields):
    found = -1 in ratings
    path = [
        PathPosition(n, chosen=None if rating == -1 else 0, ratings=[Rating(0, "rated", rating=rating)])
        for n, rating in enumerate(ratings)
    ]
    return RecordAnnotation(
        source_kind=kind,
        source_name=name,
        finish_reason="found_error" if found else "solution",
        first_error=ratings.index(-1) if found else -1,
        path=path,
        **fields,
    )


def solution(name, *labels, split="pool", domain="algebra"):
    steps = [[Completion(f"s{n}")] for n in range(3)]
    return Record(problem=name, positions=steps, annotations=list(labels), split=split, domain=domain)


def take_in(project, *records):
    import_records(project=project, records=records, by=None)


@pytest.fixture
def labelled(project):
    """Two people who agree on most steps, one more who calls good steps bad."""
    take_in(
        project,
        *(solution(f"good {n}", rated("ann", 1, 1, 1), rated("bob", 1, 1, 1)) for n in range(4)),
        *(solution(f"bad {n}", rated("ann", 1, -1), rated("bob", 1, -1), rated("eve", -1)) for n in range(4)),
    )
    return project


def named(project, fit):
    """The reliability of each annotator in a fit, by the name in the file."""
    names = {str(one.pseudonym): one.shown_name.split(" (")[0] for one in project.memberships.all()}
    return {names.get(one.name, one.name): one.reliability for one in fit.report.annotators}


def refit(project):
    return fit_for(by=None, project=project, scope=scope_of(project))


def test_a_fit_is_made_once_for_the_same_labels_and_again_after_a_new_one(labelled):
    first = refit(labelled)
    assert (first.number, first.state, first.previous, first.seen) == (1, "done", None, labels_seen(labelled))
    assert refit(labelled) == first
    take_in(labelled, solution("more", rated("ann", 1, 1, -1), rated("eve", 1, 1, 1)))
    assert latest_fit(labelled) == first
    second = refit(labelled)
    assert (second.number, second.previous) == (2, first)
    assert second.report.solutions == first.report.solutions + 1
    assert second.report.labels == first.report.labels + 2


def test_labels_are_found_without_searching_a_list_of_solutions(labelled):
    """PostgreSQL would search the list once for each solution of the pool, and count the labels of all projects."""
    take_in(labelled, solution("alone", rated("ann", 1, 1, -1)), solution("unread"))
    with CaptureQueriesContext(connection) as asked:
        evidence = read_evidence(labelled, [])
    assert {vote.solution for vote in evidence.votes} == {*labelled.annotations.values_list("solution", flat=True)}
    counted = [query["sql"] for query in asked if "HAVING" in query["sql"]]
    assert len(counted) == 2
    assert not [statement for statement in counted if re.search(r"NOT \(\S+ IN \(SELECT|LEFT OUTER JOIN", statement)]


def test_every_reliability_of_a_fit_has_its_interval_and_its_number_of_ratings(labelled):
    fit = refit(labelled)
    annotators, report = named(labelled, fit), fit.report
    assert annotators.keys() == {"ann", "bob", "eve"}
    assert all(one.low <= one.value <= one.high and one.labels > 0 for one in annotators.values())
    assert annotators["eve"].value < annotators["ann"].value
    assert {"", "algebra"} == report.shares.keys()
    assert sum(report.shares[""]) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("change", ["set_aside", "gold"])
def test_a_decision_on_which_labels_count_makes_a_fit_stale(labelled, manager, change):
    refit(labelled)
    label = labelled.annotations.first()
    if change == "gold":
        reviewer = MembershipFactory(project=labelled, role="reviewer")
        reference = labelled.annotations.filter(annotator__user=None).first()
        mark_gold(by=reviewer.user, project=labelled, annotation_id=reference.pk)
    else:
        LabelBatch.objects.create(
            project=labelled, annotator=label.annotator, since=label.submitted_at,
            until=label.submitted_at, judge="person", state="set_aside",
        )  # fmt: skip
    fit = refit(labelled)
    assert fit.number == 2
    assert fit.done == fit.total == 8, "gold too is read"


def test_a_snapshot_freezes_its_fit_and_is_the_same_again_whatever_is_fitted_later(labelled, manager, client):
    filters = {"consensus": scope_of(labelled)[0], "source_kinds": ["human"]}
    snapshot = create_snapshot(by=manager, project=labelled, filters=filters)
    content, fit = snapshot_file(snapshot).read_bytes(), snapshot.fit
    assert {record.consensus_fit for record in read_snapshot(snapshot)} == {fit.sha256}
    assert f"Fit {fit.number} (`{fit.sha256[:12]}`" in dataset_card(snapshot)
    client.force_login(manager)
    assert f'href="/p/{labelled.slug}/consensus/{fit.number}/"' in page_of(client, snapshot)
    run_fit(request_fit(by=manager, project=labelled).pk)
    assert latest_fit(labelled).number == 2
    again = create_snapshot(by=manager, project=labelled, filters={**filters, "fit": fit.number})
    assert (again.fit, again.sha256) == (fit, snapshot.sha256)
    take_in(labelled, solution("more", rated("ann", 1, 1, -1), rated("eve", 1, 1, 1)))
    newer = create_snapshot(by=manager, project=labelled, filters=filters)
    assert newer.fit.number == 3
    assert snapshot_file(snapshot).read_bytes() == content
    assert Snapshot.objects.get(pk=snapshot.pk).fit == fit


def page_of(client, snapshot):
    return client.get(f"/p/{snapshot.project.slug}/datasets/{snapshot.pk}/").content.decode()


def test_a_done_fit_never_changes(labelled):
    fit = refit(labelled)
    for change in ({"parameters": {}}, {"sha256": "0" * 64}, {"report": None}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ConsensusFit.objects.filter(pk=fit.pk).update(**change)


def test_a_snapshot_is_refused_a_fit_of_other_labels_or_none(labelled, manager):
    fit = refit(labelled)
    for filters, error in (
        ({"fit": fit.number}, DomainError),
        ({"fit": fit.number, "consensus": fit.method, "source_kinds": ["human", "simulated"]}, DomainError),
        ({"fit": 9, "consensus": fit.method}, Missing),
    ):
        with pytest.raises(error):
            choose_fit(by=manager, project=labelled, filters=parse_filters(filters))


def test_machines_are_pooled_only_by_fits_that_say_so(labelled):
    take_in(labelled, *(solution(f"good {n}", rated("judge", -1, kind="model_judge")) for n in range(4)))
    human = refit(labelled)
    everything = choose_fit(by=None, project=labelled, filters=parse_filters({"consensus": human.method}))
    assert human.source_kinds == ["human"]
    assert everything.source_kinds == []
    assert named(labelled, human).keys() == {"ann", "bob", "eve"}
    assert named(labelled, everything).keys() == {"ann", "bob", "eve", "model_judge judge"}
    assert latest_fit(labelled) == human
    assert everything.previous is None


def test_judges_of_one_family_are_one_group(labelled):
    take_in(
        labelled,
        *(
            solution(
                f"good {n}",
                *(rated(name, 1, 1, 1, kind="model_judge") for name in ("Qwen/Qwen3-8B", "qwen-max", "gpt-5")),
            )
            for n in range(4)
        ),
    )
    method = scope_of(labelled)[0]
    report = choose_fit(by=None, project=labelled, filters=parse_filters({"consensus": method})).report
    assert report.groups == [["model_judge Qwen/Qwen3-8B", "model_judge qwen-max"]]
    assert {one.group for one in report.annotators} == {"", "qwen", "gpt"}


def test_gold_tells_how_right_a_fit_is_without_knowing_it(labelled, manager):
    assert refit(labelled).report.gold is None
    decided = [solution(f"bad {n}", rated("judge of all", 1, -1, adjudicates=True)) for n in range(4)]
    take_in(labelled, *decided)
    gold = refit(labelled).report.gold
    assert (gold.steps, gold.solutions) == (8, 4)
    assert gold.accuracy.low <= gold.accuracy.value <= gold.accuracy.high
    assert gold.accuracy.value > 0.8
    assert gold.nll < 0.6


def test_a_manager_asks_for_a_fit_and_only_one_is_made_at_a_time(labelled, manager):
    reviewer = MembershipFactory(project=labelled, role="reviewer").user
    with pytest.raises(Forbidden):
        request_fit(by=reviewer, project=labelled)
    fit = request_fit(by=manager, project=labelled)
    with pytest.raises(Conflict):
        request_fit(by=manager, project=labelled)
    run_fit(fit.pk)
    assert latest_fit(labelled) == fit
    assert set(AuditEntry.objects.filter(action__startswith="fit.").values_list("action", flat=True)) == {
        "fit.start", "fit.done"
    }  # fmt: skip
    labelled.policy["quality"] = {"consensus": "shares"}
    labelled.save()
    with pytest.raises(DomainError, match="learns nothing"):
        request_fit(by=manager, project=labelled)


def test_the_schedule_fits_again_when_labels_have_grown(labelled):
    assert request_due_fits() == 1
    assert request_due_fits() == 0, "it is still queued"
    run_fit(ConsensusFit.objects.get().pk)
    assert request_due_fits() == 0
    take_in(labelled, solution("more", rated("ann", 1, 1, -1)))
    assert request_due_fits() == 1


def test_a_fit_that_fails_says_why_and_leaves_the_last_one_in_place(labelled, manager, monkeypatch):
    fit = refit(labelled)
    take_in(labelled, solution("more", rated("ann", 1, 1, -1)))

    def broken(*args, **named):
        raise DomainError("no model here", code="broken")

    monkeypatch.setattr("annotation.labels.consensus.fits.read_evidence", broken)
    with pytest.raises(DomainError, match="Fit 2 of the consensus failed: no model here"):
        refit(labelled)
    assert latest_fit(labelled) == fit
    assert request_due_fits() == 0, "the same labels would fail again"


def test_overlap_without_errors_leaves_the_single_bad_labels_to_training(project, manager, tmp_path):
    """The class prior came from the shared steps only, so that a single "bad" became .14 and training had none."""
    take_in(
        project,
        *(solution(f"shared {n}", rated("ann", 1, 1, 1), rated("bob", 1, 1, 1)) for n in range(12)),
        *(solution(f"single {n}", rated("ann" if n % 2 else "bob", 1, 1, -1)) for n in range(8)),
    )
    quality = project.policies.quality.consensus
    filters = {"source_kinds": project.policies.training_sources, "consensus": quality}
    snapshot = create_snapshot(by=manager, project=project, filters=filters)
    path = tmp_path / "traces.jsonl"
    write_training_traces(read_snapshot(snapshot), path)
    labels = [label for trace in read_traces(path) for label in trace.labels if label]
    assert sum(label.rating == -1 for label in labels) == 8
    assert min(label.bad for label in labels if label.rating == -1) > 0.5


def test_a_person_whom_reviewers_confirm_outvotes_a_judge_and_its_copies(project, manager, client):
    """Three near-copies of a judge outvoted an accurate person, and 100 adjudications changed nothing."""
    judges = ("qwen-max", "qwen-plus", "Qwen/Qwen3-8B")

    def by_judges():
        return [rated(name, 1, 1, 1, kind="model_judge") for name in judges]

    decided = rated("reviewer", 1, -1, adjudicates=True)
    take_in(
        project,
        *(solution(f"decided {n}", rated("ann", 1, -1), rated("bob", 1, -1), *by_judges(), decided) for n in range(20)),
        *(solution(f"right {n}", rated("ann", 1, 1, 1), rated("bob", 1, 1, 1), *by_judges()) for n in range(20)),
        solution("open", rated("ann", 1, -1), *by_judges()),
    )
    method = scope_of(project)[0]
    fit = choose_fit(by=None, project=project, filters=parse_filters({"consensus": method}))
    measured = named(project, fit)
    assert measured["ann"].low > measured["model_judge qwen-max"].high
    assert fit.report.groups == [["model_judge Qwen/Qwen3-8B", "model_judge qwen-max", "model_judge qwen-plus"]]
    client.force_login(manager)
    page = client.get(f"/p/{project.slug}/consensus/{fit.number}/")
    assert [len(group) for group in page.context["groups"]] == [3]
    assert page.content.decode().count('<span class="tag">') == 3, "a name may have a comma"
    address = f"/api/v1/projects/{project.slug}/consensus/?fit={fit.number}&search=open"
    [row] = client.get(address).json()["results"]
    assert (row["labels"], row["source_kinds"]) == (4, ["human", "model_judge"])
    assert row["steps"][1]["bad"] > 0.8, "it was .743"
