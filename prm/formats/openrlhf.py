"""OpenRLHF's data for process reward models (github.com/OpenRLHF/OpenRLHF up to 0.9, `train_prm`): JSON Lines.

`input` is the text of `math_shepherd`; `value` lists `+` or `-` for its tags. Train with `--input_key input
--label_key value --placeholder_token ки --reward_tokens + -`.
"""

from collections.abc import Iterator
from typing import Any

from prm.exporters import exporter
from prm.formats.math_shepherd import Tagged, is_unambiguous, tagged
from prm.formats.record import Record, RecordAnnotation
from prm.formats.writing import Loss, along_label
from prm.vocabulary import NeutralPolicy


@exporter("openrlhf", title="OpenRLHF", two_classes=True, by_structure=is_unambiguous)
@along_label(known_error=False)
def openrlhf(record: Record, label: RecordAnnotation, neutral: NeutralPolicy) -> Iterator[dict[str, Any] | Loss]:
    for written in tagged(record, label, neutral):
        yield {"input": written.text(), "value": written.marks} if isinstance(written, Tagged) else written
