"""Fits a model's threshold again for solutions unlike those that it learned from."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import numpy as np

from prm.answers.noise import fit_noise
from prm.calibration import fit_threshold_on, threshold_for_share
from prm.cards.folder import write_card
from prm.errors import DataError
from prm.files import write_json
from prm.formats.mapping import Mapping
from prm.labels import first_error
from prm.manifest import MANIFEST_FILE, Manifest
from prm.messages import Message
from prm.portable.importing import adopt, check_new
from prm.scores import TraceScore
from prm.scoring import Scorer
from prm.traces import Trace
from prm.training.dataset import ENOUGH_HELD, read_to_fit
from prm.trust import LEAST_SOLUTIONS, AbstentionBar, Trust, fit_abstention, verdict

Scored = list[tuple[Trace, TraceScore]]


def recalibrate(model: Path | str, out: Path | str, *, data: Path | str, mapping: Mapping | None = None) -> Manifest:
    """Copy a model to `out` with a threshold fitted on the solutions of a file; scores stay as they are.

    With ENOUGH_HELD labelled solutions of either kind, threshold and abstention limit are fitted on the labels. Else
    the threshold flags as many solutions as their graded final answers suggest have an error (LEAST_SOLUTIONS or more),
    and there is no abstention limit. Of a published benchmark, a fifth of the problems are left for measuring.

    Raises DataError if the file has neither, ModelFileError for an unusable model or a folder `out` with content.
    """
    model, out, data = Path(model), Path(out), Path(data)
    check_new(out)
    scorer = Scorer.load(model)
    assert scorer.manifest is not None, "every model folder has a manifest"
    traces = [trace for trace in read_to_fit(data, mapping) if trace.split != "holdout" and trace.steps]
    labelled = [trace for trace in traces if first_error(trace) is not None]
    errors = [first_error(trace) for trace in labelled]
    graded = [trace for trace in traces if trace.final_answer_correct is not None]
    by_labels = min(errors.count(-1), len(errors) - errors.count(-1)) >= ENOUGH_HELD
    if not by_labels and len(graded) < LEAST_SOLUTIONS:
        raise DataError(
            Message(
                "too_few_to_recalibrate",
                path=data,
                labelled=len(labelled),
                graded=len(graded),
                least_of_a_kind=ENOUGH_HELD,
                least_graded=LEAST_SOLUTIONS,
            )
        )
    chosen = labelled if by_labels else graded
    scored = [pair for pair in zip(chosen, scorer.score(chosen), strict=True) if not pair[1].unscored]
    threshold = _by_labels(scored) if by_labels else _by_grades(scored, labelled)
    before = scorer.manifest
    domain = before.trust.domain if before.trust else None
    limit = _abstention(scored, threshold, before.config.verdict_accuracy) if by_labels else None
    manifest = msgspec.structs.replace(
        adopt(model, out),
        threshold=threshold,
        fitted_on="labels" if by_labels else "grades",
        counts=msgspec.structs.replace(before.counts, held_solutions=len(scored)),
        trust=Trust(domain, limit) if domain or limit else None,
    )
    write_json(out / MANIFEST_FILE, manifest)
    write_card(out)
    return manifest


def _by_labels(scored: Scored) -> float:
    return fit_threshold_on((trace for trace, _ in scored), (score for _, score in scored))


def _by_grades(scored: Scored, labelled: Iterable[Trace]) -> float:
    """The threshold that flags the share of solutions with an error, as their grades suggest it."""
    share = fit_noise(labelled).share_with_error(trace for trace, _ in scored)
    lowest = [min(p for p in score.mean if p is not None) for _, score in scored]
    return 0.5 if share is None else threshold_for_share(np.array(lowest), share)


def _abstention(scored: Scored, threshold: float, target: float) -> AbstentionBar | None:
    doubts, right = [], []
    for trace, score in scored:
        predicted, doubt = verdict(score.heads, score.mean, threshold)
        if doubt is not None:
            doubts.append(doubt)
            right.append(predicted == first_error(trace))
    return fit_abstention(doubts, right, target=target)
