"""Fits a model's threshold again for solutions unlike those that it learned from."""

from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from prm.answers.noise import fit_noise
from prm.calibration import fit_threshold_on, threshold_for_share
from prm.cards.folder import write_card
from prm.errors import DataError
from prm.files import check_new_folder, write_json
from prm.formats.mapping import Mapping
from prm.labels import first_error
from prm.manifest import MANIFEST_FILE, Manifest
from prm.messages import Message
from prm.portable.importing import adopt
from prm.scores import TraceScore
from prm.scoring import Scorer
from prm.threshold import Threshold
from prm.traces import Trace
from prm.training.dataset import read_to_fit
from prm.trust import LEAST_SOLUTIONS, AbstentionBar, Trust, fit_abstention, verdict

ENOUGH_TO_FIT = 50  # right and wrong solutions each; with fewer, counting errors sets a better threshold


def recalibrate(model: Path | str, out: Path | str, *, data: Path | str, mapping: Mapping | None = None) -> Manifest:
    """Copy a model to `out` with a threshold fitted on the solutions of a file; scores stay as they are.

    With ENOUGH_TO_FIT labelled solutions of either kind, threshold and abstention limit are fitted on them. With fewer,
    the threshold flags the share of solutions that probably has an error, by their graded final answers or else by the
    labels (LEAST_SOLUTIONS of them), and there is no abstention limit. Of a published benchmark, a fifth of the
    problems are left for measuring.

    Raises DataError if the file has too few, ModelFileError for an unusable model or a folder `out` with content.
    """
    model, out, data = Path(model), Path(out), Path(data)
    check_new_folder(out)
    scorer = Scorer.load(model)
    before = scorer.manifest
    assert before is not None, "every model folder has a manifest"
    evidence = _evidence(data, mapping)
    scored = [pair for pair in zip(evidence.traces, scorer.score(evidence.traces), strict=True) if not pair[1].unscored]
    if len(scored) < LEAST_SOLUTIONS:  # the rest exceeds the context
        raise _too_few(data, [trace for trace, _ in scored])
    if evidence.share is None:
        threshold = fit_threshold_on((trace for trace, _ in scored), (score for _, score in scored))
        limit = _abstention(scored, threshold, before.config.verdict_accuracy)
    else:
        means = [np.array(score.mean, dtype=float) for _, score in scored]
        threshold, limit = threshold_for_share(means, evidence.share), None
    domain = before.trust.domain if before.trust else None
    manifest = msgspec.structs.replace(
        adopt(model, out),
        threshold=threshold,
        fitted_on=evidence.kind,
        counts=msgspec.structs.replace(before.counts, held_solutions=len(scored)),
        trust=Trust(domain, limit) if domain or limit else None,
    )
    write_json(out / MANIFEST_FILE, manifest)
    write_card(out)
    return manifest


class _Evidence(NamedTuple):
    """The solutions that say where the threshold belongs, and the share with an error; None to fit on their labels."""

    kind: str
    traces: list[Trace]
    share: float | None


def _evidence(data: Path, mapping: Mapping | None) -> _Evidence:
    traces = [trace for trace in read_to_fit(data, mapping) if trace.split != "holdout" and trace.steps]
    labelled = [trace for trace in traces if first_error(trace) is not None]
    graded = [trace for trace in traces if trace.final_answer_correct is not None]
    right = sum(first_error(trace) == -1 for trace in labelled)
    if min(right, len(labelled) - right) >= ENOUGH_TO_FIT:
        return _Evidence("labels", labelled, None)
    if len(graded) >= LEAST_SOLUTIONS:
        return _Evidence("grades", graded, fit_noise(labelled).share_with_error(graded))
    if len(labelled) >= LEAST_SOLUTIONS:
        return _Evidence("labels", labelled, (len(labelled) - right + 1) / (len(labelled) + 2))
    raise _too_few(data, traces)


def _too_few(data: Path, traces: list[Trace]) -> DataError:
    labelled = sum(first_error(trace) is not None for trace in traces)
    graded = sum(trace.final_answer_correct is not None for trace in traces)
    return DataError(
        Message("too_few_to_recalibrate", path=data, labelled=labelled, graded=graded, least=LEAST_SOLUTIONS)
    )


def _abstention(scored: list[tuple[Trace, TraceScore]], threshold: Threshold, target: float) -> AbstentionBar | None:
    doubts, right = [], []
    for trace, score in scored:
        predicted, doubt = verdict(score.heads, score.mean, threshold)
        if doubt is not None:
            doubts.append(doubt)
            right.append(predicted == first_error(trace))
    return fit_abstention(doubts, right, target=target)
