"""Labelled data and published scores of others, told apart by their content. One format a module. No torch.

A format module has `NAME`, `JUDGED` (what is measured on it), `MARKS` (fields that tell it), `Record` (what is
read), `traces_of(record)`, and `scores_of(record)` where its files carry published scores.
"""

from prm.readers.benchmark import Benchmark, Judged, read_benchmark, read_published

__all__ = ["Benchmark", "Judged", "read_benchmark", "read_published"]
