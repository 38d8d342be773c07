"""Fits how often the grades of final answers mislead in a project, from the labels of its champion's snapshot."""

from annotation.core.errors import DomainError
from annotation.labels.datasets.snapshots import read_snapshot
from annotation.models import ModelVersion
from prm.answers.noise import PRIOR, AnswerNoise, fit_noise
from prm.formats.record_traces import trace_of


def answer_noise_of(model: ModelVersion) -> AnswerNoise:
    """The noise among the labelled solutions of the pool in the model's snapshot; the prior without a snapshot."""
    if model.snapshot is None:
        return PRIOR
    try:
        records = read_snapshot(model.snapshot)
    except DomainError:  # the overview reports a lost file; labelling goes on
        return PRIOR
    return fit_noise(trace_of(record) for record in records if record.split == "pool").overall
