"""Stepmark's own records (see `record`): a solution with all its labels on each line, as snapshots store them.

Reading restores the labels of every kind with their annotator, revision, draw and guidelines. The consensus is left
out, because the importing project computes its own.
"""

from typing import Any

from prm.formats.reading import Unreadable, convert_record
from prm.formats.record import Record
from prm.formats.registry import file_format
from prm.formats.writing import always
from prm.messages import Message
from prm.vocabulary import SPLITS, NeutralPolicy


@file_format("records", label=Message("export_records"), keys=("problem", "positions"))
def records(value: Any) -> Record:
    record = convert_record(value, Record)
    if record.split and record.split not in SPLITS:
        raise Unreadable("split", Message("word_not_known", word=record.split[:40], known=", ".join(SPLITS)))
    for number, annotation in enumerate(record.annotations):
        for place in annotation.path:
            at = record.positions[place.position] if 0 <= place.position < len(record.positions) else []
            chosen = [] if place.chosen is None else [place.chosen]
            if any(not 0 <= one < len(at) for one in [*chosen, *(rating.alternative for rating in place.ratings)]):
                count = Message("n_completions", n=len(at))
                field = f"annotations[{number}].path[{place.position}]"
                raise Unreadable(field, Message("completion_index_invalid", completions=count))
    return record


@records.writes(not_held=(), nameless=False, by_structure=always)
def _lines(record: Record, neutral: NeutralPolicy) -> list[Record]:
    return [record]
