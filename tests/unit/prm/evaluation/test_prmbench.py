"""PRMScore against answers worked out by hand, the benchmark's rule written out, and its published tables."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.cards.tables import prmbench_table
from prm.errors import DataError
from prm.evaluation.prmbench import prm_score
from prm.formats.benchmark import read_benchmark
from prm.labels import BAD, GOOD
from prm.threshold import Threshold
from prm.traces import Step, Trace
from tests.unit.prm.evaluation.hand_made import score, trace


def record(kind: str, name: str, n_steps: int, error_steps: list[int]) -> dict:
    return {
        "idx": name,
        "original_question": "How much?",
        "modified_question": "How much now?",
        "original_process": ["1. a", "2. b"],
        "modified_process": [f"{k + 1}. s" for k in range(n_steps)],
        "modified_steps": error_steps,
        "error_steps": error_steps,
        "reason": "because",
        "classification": kind,
    }


RECORDS = [
    record("redundency", "p1", 3, [2]),
    record("circular", "p1", 4, [3, 4]),
    record("multi_solutions", "p2", 2, []),
]
SCORES = [
    score("redundency_p1", 0.9, 0.2, 0.4),  # TP, TN, FN
    score("correct_p1", 0.9, 0.4),
    score("circular_p1", 0.9, 0.5, 0.6, 0.1),  # TP, FN (not above the threshold), FP, TN
    score("multi_solutions_p2", 0.8, 0.3),  # TP, FN
]


def read(folder: Path, records: list[dict]) -> list:
    path = folder / "prmbench.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    return read_benchmark([path]).traces


def test_prm_score_by_hand(tmp_path: Path) -> None:
    report = prm_score(read(tmp_path, RECORDS), SCORES, threshold=Threshold(0.5), bootstrap=20)
    redundant, circular, several = (report.categories[r["classification"]] for r in RECORDS)
    # redundant: precision 1, recall 1/2; for errors precision 1/2, recall 1
    assert (redundant.f1.value, redundant.negative_f1.value) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert redundant.prm_score.value == pytest.approx(2 / 3)
    assert (circular.f1.value, circular.negative_f1.value) == (0.5, 0.5)
    # right steps only: F1 alone, 2 * 1 / (2 + 1)
    assert several.prm_score.value == several.f1.value == pytest.approx(2 / 3)
    assert report.dimensions["simplicity"].value == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert report.dimensions["sensitivity"].value is None
    # all: TP 3, FN 3, TN 2, FP 1, the unchanged solution left out
    assert report.overall.f1.value == pytest.approx(6 / 10)
    assert report.overall.negative_f1.value == pytest.approx(4 / 8)
    assert report.overall.prm_score.value == pytest.approx((0.6 + 0.5) / 2)
    assert (report.overall.n_steps, report.overall.n_errors) == (9, 3)
    assert report.categories["correct"].n_steps == 2
    assert circular.first_error_accuracy.value == 0
    assert report.overall.wrong_step_accuracy.value == pytest.approx(2 / 3)
    assert "| NR redundency | 1 | 3 | .667" in prmbench_table(report)


# Llemma-PRM800k-7B in per cent, from the results that the benchmark's authors keep with their code (mr_visualize):
# accuracy on all, on right and on wrong steps, then F1, negative F1 and PRMScore
PUBLISHED = {
    "redundency": (65.2, 69.2, 36.9, 77.7, 20.9, 49.3),
    "counterfactual": (65.9, 69.2, 51.7, 76.8, 36.1, 56.4),
    "step_contradiction": (62.1, 64.3, 42.5, 75.2, 18.9, 47.1),
    "domain_inconsistency": (58.3, 59.9, 47.1, 71.6, 21.9, 46.7),
    "confidence": (68.5, 70.9, 50.0, 79.9, 26.6, 53.3),
    "missing_condition": (59.7, 62.3, 47.9, 71.7, 30.3, 51.0),
    "deception": (66.2, 70.4, 43.8, 77.8, 29.1, 53.5),
    "multi_solutions": (88.0, 88.0, None, 93.6, 0.0, 93.6),
}
STEPS = 4000


@pytest.mark.parametrize("category", PUBLISHED)
def test_published_accuracies_give_the_published_prm_score(category: str) -> None:
    whole, right, wrong, f1, negative_f1, published = PUBLISHED[category]
    share = 1.0 if wrong is None else (whole - wrong) / (right - wrong)  # of right steps, which these three imply
    n_right = round(STEPS * share)
    found_right = round(n_right * right / 100)
    found_wrong = round((STEPS - n_right) * (wrong or 0) / 100)
    labels = [GOOD] * n_right + [BAD] * (STEPS - n_right)
    p = [0.9] * found_right + [0.1] * (n_right - found_right + found_wrong) + [0.9] * (STEPS - n_right - found_wrong)
    solution = Trace("t", "p", [Step("s")] * STEPS, domain=category, labels=labels, first_error=-1)
    found = prm_score([solution], [score("t", *p)], threshold=Threshold(0.5), bootstrap=0).categories[category]
    # the share is known to within the rounding of three published figures, hence a point of F1
    assert found.f1.value * 100 == pytest.approx(f1, abs=0.6)
    assert found.negative_f1.value * 100 == pytest.approx(negative_f1, abs=0.6)
    assert found.prm_score.value * 100 == pytest.approx(published, abs=0.4)


def test_a_dimension_is_the_mean_of_its_categories() -> None:
    kinds = ["missing_condition", "deception", "multi_solutions"]
    traces = [trace(kind, 2, -1, kind) for kind in kinds]
    scores = [score("missing_condition", 0.9, 0.9), score("deception", 0.9, 0.1), score("multi_solutions", 0.9, 0.1)]
    report = prm_score(traces[2:], scores, threshold=Threshold(0.5), bootstrap=0)
    assert report.dimensions["sensitivity"].value is None
    assert report.categories["multi_solutions"].prm_score.value == pytest.approx(2 / 3)
    traces = [Trace(t.id, t.problem, t.steps, domain=t.domain, first_error=1) for t in traces[:2]] + traces[2:]
    report = prm_score(traces, scores, threshold=Threshold(0.5), bootstrap=0)
    assert report.categories["missing_condition"].prm_score.value == pytest.approx((2 / 3 + 0) / 2)
    assert report.categories["deception"].prm_score.value == 1
    assert report.dimensions["sensitivity"].value == pytest.approx((1 / 3 + 1 + 2 / 3) / 3)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_f1_is_the_benchmarks_wherever_something_is_found(steps) -> None:
    """Precision and recall by the benchmark's code, in which an undefined one is -1."""
    traces = [trace(str(i), 1, 0 if wrong else -1, "confidence") for i, (wrong, _) in enumerate(steps)]
    scores = [score(str(i), 0.9 if judged_right else 0.1) for i, (_, judged_right) in enumerate(steps)]
    found = prm_score(traces, scores, threshold=Threshold(0.5), bootstrap=0).categories["confidence"]
    tp, fp = sum(not w and r for w, r in steps), sum(w and r for w, r in steps)
    tn, fn = sum(w and not r for w, r in steps), sum(not w and not r for w, r in steps)
    for (hit, false_alarm, miss), metric in {(tp, fp, fn): found.f1, (tn, fn, fp): found.negative_f1}.items():
        precision = hit / (hit + false_alarm) if hit + false_alarm else -1
        recall = hit / (hit + miss) if hit + miss else -1
        if hit:
            assert metric.value == pytest.approx(2 * precision * recall / (precision + recall))
        else:
            assert metric.value == (0 if false_alarm + miss else None)


def test_an_unscored_step_counts_nowhere_and_is_said(tmp_path: Path) -> None:
    traces = read(tmp_path, RECORDS[1:2])
    report = prm_score(traces, [score("circular_p1", 0.9, 0.9, None, None)], threshold=Threshold(0.5), bootstrap=0)
    assert (report.overall.n_steps, report.overall.n_unscored_steps) == (2, 2)
    assert report.overall.negative_f1.value is None
    assert report.overall.first_error_accuracy.value is None


def test_unknown_categories_and_missing_scores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'sarcasm' is not a category of PRMBench"):
        prm_score(read(tmp_path, [record("sarcasm", "p", 1, [])]), [], threshold=Threshold(0.5))
    with pytest.raises(DataError, match="'circular_p1' has no score for each of its 4 steps"):
        prm_score(read(tmp_path, RECORDS[1:2]), [score("circular_p1", 0.5)], threshold=Threshold(0.5))
