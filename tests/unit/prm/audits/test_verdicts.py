"""Every audit on scorers whose faults are known."""

import functools
from collections.abc import Sequence
from random import Random

import msgspec
import pytest

from prm.audits import AUDITS, Training
from prm.audits.finding import Finding
from prm.audits.subject import Scoring
from prm.labels import first_error
from prm.traces import Trace
from tests.unit.prm.audits import sums

SCORERS = {
    "perfect": sums.perfect,
    "constant": sums.constant,
    "outcome": sums.outcome_only,
    "position": sums.position_only,
    "length": sums.length_only,
}
VERDICTS = {
    "perfect": {
        "outcome": "ok",
        "gaming": "ok",
        "length": "ok",
        "long": "ok",
        "position": "ok",
        "calibration": "ok",
    },
    "constant": {
        "outcome": "fail",
        "gaming": "fail",
        "length": "fail",
        "long": "fail",
        "position": "fail",
        "calibration": "attention",
    },
    "outcome": {"outcome": "fail", "gaming": "fail", "calibration": "fail"},
    "position": {"position": "fail", "gaming": "fail"},
    "length": {"length": "fail", "outcome": "attention", "gaming": "fail", "calibration": "fail"},
}


@functools.cache
def world() -> list[Trace]:
    return sums.make_sums(240)


@functools.cache
def finding(scorer: str, audit: str) -> Finding:
    return AUDITS.get(audit)(sums.subject_of(SCORERS[scorer], world()), Random(0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scorer", "audit", "verdict"),
    [(scorer, audit, verdict) for scorer, known in VERDICTS.items() for audit, verdict in known.items()],
)
def test_a_known_scorer_gets_its_verdict(scorer: str, audit: str, verdict: str) -> None:
    found = finding(scorer, audit)
    assert found.verdict == verdict, [(check.verdict, check.words) for check in found.checks]


def test_scores_that_see_the_last_step_are_told_by_the_answer_swap() -> None:
    words = [check.words for check in finding("outcome", "outcome").checks if check.verdict == "fail"]
    assert any("last step changes the scores of earlier steps" in one for one in words)


def test_a_verifier_swayed_by_praise_is_told_by_name() -> None:
    def swayed(trace: Trace) -> list[float]:
        praised = any("correct" in step.text or "is right" in step.text for step in trace.steps)
        return [sums.HIGH] * len(trace.steps) if praised else sums.perfect(trace)

    found = AUDITS.get("gaming")(sums.subject_of(swayed, world()), Random(0))
    assert found.verdict == "fail"
    assert "praise 100\xa0%" in found.sentence
    assert "pad" not in found.sentence


def test_a_verifier_that_misses_false_results_does_not_pass_by_ignoring_edits() -> None:
    """One verdict needs both: this verifier never rejects what began as a right solution."""
    right = {trace.id for trace in world() if first_error(trace) == -1}

    def blind(trace: Trace) -> list[float]:
        return [sums.HIGH] * len(trace.steps) if trace.id in right else sums.perfect(trace)

    found = AUDITS.get("gaming")(sums.subject_of(blind, world()), Random(0))
    assert found.verdict == "fail"
    assert "rejects only 0\xa0%" in found.sentence


def test_a_score_that_fades_with_depth_is_told_in_long_solutions() -> None:
    def fading(trace: Trace) -> list[float]:
        return [p if k < 32 else sums.HIGH for k, p in enumerate(sums.perfect(trace))]

    assert AUDITS.get("long")(sums.subject_of(fading, world()), Random(0)).verdict == "fail"


def test_steps_beyond_the_context_are_counted_not_guessed() -> None:
    def short_sighted(traces: Sequence[Trace]) -> list:
        return [
            msgspec.structs.replace(one, mean=[*one.mean[:20], *[None] * len(one.mean[20:])])
            for one in sums.scoring(sums.perfect)(traces)
        ]

    subject = sums.subject_of(sums.perfect, world(), score=short_sighted)
    found = AUDITS.get("long")(subject, Random(0))
    assert found.verdict == "attention"
    assert "exceed the context" in found.sentence
    [share] = [f.value.value for f in found.figures if f.group.startswith("Share") and f.name == "128 steps"]
    assert share is not None
    assert 0.5 < share < 0.9


def test_overconfident_scores_are_told() -> None:
    def overconfident(trace: Trace) -> list[float]:
        return [0.6 if p == sums.HIGH else 0.4 for p in sums.perfect(trace)]

    assert AUDITS.get("calibration")(sums.subject_of(overconfident, world()), Random(0)).verdict == "fail"


def learner_of_domains(traces: Sequence[Trace]) -> Scoring:
    """Reads perfectly in the domains it was taught, and says the same of everything elsewhere."""
    taught = {trace.domain for trace in traces}
    return sums.scoring(lambda trace: sums.perfect(trace) if trace.domain in taught else sums.constant(trace))


def test_what_holds_only_where_it_was_taught_fails_transfer() -> None:
    training = Training(lambda: sums.make_sums(400, seed=1, prefix="train"), learner_of_domains)
    found = AUDITS.get("transfer")(sums.subject_of(sums.perfect, world(), training=training), Random(0))
    assert found.verdict == "fail"
    assert "domain sums" in found.sentence
    assert "domain totals" in found.sentence
    assert "generator" not in found.sentence


def test_what_holds_everywhere_passes_transfer_on_equal_numbers_of_solutions() -> None:
    sizes = []

    def learn(traces: Sequence[Trace]) -> Scoring:
        sizes.append(len(traces))
        return sums.scoring(sums.perfect)

    training = Training(lambda: sums.make_sums(400, seed=1, prefix="train"), learn)
    found = AUDITS.get("transfer")(sums.subject_of(sums.perfect, world(), training=training), Random(0))
    assert found.verdict == "ok"
    assert len(sizes) == 5
    assert len(set(sizes)) == 1


def test_unread_solutions_take_no_labelled_ones_place_in_transfer() -> None:
    labelled = []

    def learn(traces: Sequence[Trace]) -> Scoring:
        labelled.append(sum(trace.first_error is not None for trace in traces))
        return sums.scoring(sums.perfect)

    unread = [
        msgspec.structs.replace(trace, labels=None, first_error=None)
        for trace in sums.make_sums(4000, seed=2, prefix="unread")
    ]
    training = Training(lambda: [*sums.make_sums(400, seed=1, prefix="train"), *unread], learn)
    AUDITS.get("transfer")(sums.subject_of(sums.perfect, world(), training=training), Random(0))
    assert len(set(labelled)) == 1
    assert labelled[0] > 150  # about half of the 400 are of one domain


def test_problems_under_audit_are_never_trained_on() -> None:
    def learn(traces: Sequence[Trace]) -> Scoring:
        raise AssertionError("trained on what is audited")

    training = Training(world, learn)
    found = AUDITS.get("transfer")(sums.subject_of(sums.perfect, world(), training=training), Random(0))
    assert found.verdict == "cannot tell"


@pytest.mark.parametrize("audit", AUDITS)
def test_with_too_little_data_an_audit_says_that_it_cannot_tell(audit: str) -> None:
    for few in (world()[:1], [msgspec.structs.replace(trace, labels=None, first_error=-1) for trace in world()[:6]]):
        found = AUDITS.get(audit)(sums.subject_of(sums.perfect, few), Random(0))
        assert found.verdict in ("cannot tell", "ok"), found.sentence
        assert any(check.verdict == "cannot tell" for check in found.checks)


def test_solutions_of_one_problem_are_resampled_together() -> None:
    values = [0.0] * 6 + [1.0] * 6
    together = sums.subject_of(sums.perfect, [msgspec.structs.replace(t, problem_id="one") for t in world()[:12]])
    mean = together.mean(values, range(12))
    assert (mean.value, mean.low, mean.high) == (0.5, 0.5, 0.5)
    two = [msgspec.structs.replace(t, problem_id=str(k // 6)) for k, t in enumerate(world()[:12])]
    mean = sums.subject_of(sums.perfect, two).mean(values, range(12))
    assert (mean.value, mean.low, mean.high) == (0.5, 0.0, 1.0)


def test_too_few_values_have_no_interval_and_are_not_drawn() -> None:
    few = AUDITS.get("gaming")(sums.subject_of(sums.perfect, world()[:12]), Random(0))
    assert any(figure.value.value is not None for figure in few.figures)
    assert all(figure.value.low is None for figure in few.figures if figure.n < 10)
    assert all(value.low is not None for chart in few.charts for series in chart.series for value in series.y)
