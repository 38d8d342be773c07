"""Whether data overlaps with a benchmark, and whether its problems are near-duplicates of each other.

A model that learned from a benchmark's text scores too well on it. The rules are those of published reports: a shared
n-gram of 13 words (Brown et al. 2020, "Language models are few-shot learners", appendix C), or 70 % of the 8-grams
(Chowdhery et al. 2022, "PaLM", section 8). Near-duplicates have a Jaccard similarity of 0.8 of their 5-grams, estimated
by MinHash (Lee et al. 2022, "Deduplicating training data makes language models better").
"""

from prm.contamination.benchmark import BenchmarkText
from prm.contamination.checking import (
    ContaminationReport,
    Hit,
    Item,
    Overlap,
    check_contamination,
    item_of_record,
    item_of_trace,
)
from prm.contamination.near_duplicates import DuplicateGroup, NearDuplicates

__all__ = [
    "BenchmarkText",
    "ContaminationReport",
    "DuplicateGroup",
    "Hit",
    "Item",
    "NearDuplicates",
    "Overlap",
    "check_contamination",
    "item_of_record",
    "item_of_trace",
]
