"""Sources of labels against each other: pairs counted, rows found, solutions kept."""

import json

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.errors import DomainError
from annotation.files.record_import import import_records
from annotation.labels.agreement.contrast import (
    WAYS,
    Contrast,
    SourceVerdict,
    agree,
    contrasted,
    contrasts,
    passes_rule,
)
from annotation.labels.datasets.filters import describe_filters, parse_filters
from annotation.labels.datasets.plans import plan_export
from annotation.labels.datasets.record_stream import stream_records
from annotation.labels.datasets.snapshot_export import export_name, export_snapshot
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import LabelSource, Membership
from annotation.models.agreement_rule import AgreementRule
from prm.exporters import EXPORTERS
from prm.formats.labels import index_label
from prm.formats.record import Completion, Record
from tests.factories import MembershipFactory, ProjectFactory

KINDS = ("monte_carlo", "model_judge")
ERRORS = st.integers(-1, 3)


def words(*errors):
    return [SourceVerdict(kind, "", error) for kind, error in zip(KINDS, errors, strict=True)]


@pytest.mark.parametrize(
    ("one", "other", "exact", "near", "presence"),
    [
        (2, 2, True, True, True),
        (2, 3, False, True, True),
        (1, 3, False, False, True),
        (-1, -1, True, True, True),
        (-1, 0, False, False, False),
    ],
)
def test_what_counts_as_agreement(one, other, exact, near, presence):
    assert [agree(one, other, on) for on in ("first_error", "within_one", "presence")] == [exact, near, presence]


@given(ERRORS, ERRORS, st.sampled_from(["first_error", "within_one", "presence"]))
def test_a_solution_is_kept_by_agreeing_or_by_differing_and_never_by_both(one, other, on):
    kept = [
        passes_rule(AgreementRule(list(KINDS), on=on, keep=keep), words(one, other))
        for keep in ("agreeing", "differing")
    ]
    assert kept.count(True) == 1


def test_where_a_source_is_silent_or_at_odds_with_itself_nothing_is_agreed():
    rule = AgreementRule(list(KINDS))
    assert not passes_rule(rule, words(1, None))
    assert not passes_rule(rule, [SourceVerdict("monte_carlo", "a", 1)])
    assert passes_rule(AgreementRule(list(KINDS), silent="kept"), [SourceVerdict("monte_carlo", "a", 1)])
    assert not passes_rule(rule, [*words(1, 1), SourceVerdict("monte_carlo", "other policy", 2)])
    named = AgreementRule(["monte_carlo:a", "model_judge"])
    assert passes_rule(
        named,
        [
            SourceVerdict("monte_carlo", "a", 1),
            SourceVerdict("monte_carlo", "b", 2),
            SourceVerdict("model_judge", "j", 1),
        ],
    )


def records():
    """Solutions of six steps; the first errors that Monte Carlo and the judge tell."""
    for number, (one, other) in enumerate([(2, 2), (2, 3), (1, 4), (-1, -1), (0, -1), (-1, 5), (3, None)]):
        told = [(kind, error) for kind, error in zip(KINDS, (one, other), strict=True) if error is not None]
        yield Record(
            problem=f"Problem {number}",
            positions=[[Completion(f"step {k}")] for k in range(6)],
            external_id=str(number),
            annotations=[index_label(error, 6, field="", kind=kind, name=f"a {kind}") for kind, error in told],
        )


@pytest.fixture
def project(db):
    project = ProjectFactory()
    import_records(project=project, records=records(), by=None)
    return project


def kept(project, **rule):
    filters = parse_filters({"agreement": {"sources": list(KINDS), **rule}})
    return sorted(record.external_id for record in stream_records(project=project, filters=filters))


def test_a_snapshot_keeps_what_sources_agree_on_or_differ_on(project):
    assert kept(project) == ["0", "3"]
    assert kept(project, on="within_one") == ["0", "1", "3"]
    assert kept(project, on="presence", keep="differing") == ["4", "5"]
    assert kept(project, silent="kept") == ["0", "3", "6"]
    for split in ("pool", "calibration", "holdout"):
        others = set(project.solutions.exclude(split=split).values_list("external_id", flat=True))
        assert set(kept(project, splits=[split])) == others | {"0", "3"}, "the other splits are left alone"


def test_pairs_of_sources_are_counted_and_each_count_leads_to_its_solutions(project):
    [(one, other, found)] = contrasts(project)
    assert {one.kind, other.kind} == set(KINDS)
    assert found == Contrast(pairs=6, exact=2, within_one=3, both=3, neither=1, only_one=1, only_other=1)
    for way in WAYS:
        assert contrasted(one=one, other=other, way=way).count() == getattr(found, way)


def test_the_filter_says_in_words_what_it_keeps_and_refuses_what_is_no_source():
    assert describe_filters({"agreement": {"sources": list(KINDS)}}) == [
        "agreement: monte_carlo and model_judge agree on the first error"
    ]
    for sources in (["monte_carlo"], ["monte_carlo", "oracle"], ["human", "human"]):
        with pytest.raises(DomainError, match="agreement"):
            parse_filters({"agreement": {"sources": sources}})


def test_every_export_format_can_be_downloaded_of_an_agreement(project, client):
    manager = MembershipFactory(project=project, role=Membership.Role.MANAGER)
    snapshot = create_snapshot(by=manager.user, project=project, filters={"agreement": {"sources": list(KINDS)}})
    assert snapshot.counts["solutions"] == 2
    asked = {"agreement": {"sources": list(KINDS)}, "source_kinds": ["model_judge"]}
    of_one_kind = create_snapshot(by=manager.user, project=project, filters=asked)
    empty = {}
    for format in EXPORTERS:
        exported = of_one_kind if EXPORTERS.get(format).nameless else snapshot
        if refusal := plan_export(exported, format).refusal:
            empty[format] = refusal.extra["left_out"]
        else:
            assert b"".join(export_snapshot(exported, format))
    agent_runs = {key: {"other_format": 2} for key in ("messages", "who_and_when", "atif", "swe_agent", "tau_bench")}
    assert empty == agent_runs | {key: {"no_correction": 2} for key in ("preference", "sft")}
    assert export_name(snapshot, "trl_parquet").endswith("-trl_parquet.parquet")
    client.force_login(manager.user)
    page = client.get(reverse("contrasts", args=[project.slug])).content.decode()
    assert page.count("way=") == 8
    told = json.loads(client.get(f"/api/v1/projects/{project.slug}/contrasts/").content)
    assert (told[0]["pairs"], told[0]["exact"]) == (6, 2)
    rows = client.get(
        reverse("solutions", args=[project.slug]),
        {"one": told[0]["one"]["id"], "other": told[0]["other"]["id"], "way": "exact", "download": "csv"},
    )
    assert len(b"".join(rows.streaming_content).splitlines()) == 3
    assert LabelSource.objects.filter(project=project).count() == 2
