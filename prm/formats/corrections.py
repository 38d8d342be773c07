"""Training data from corrected steps: pairs of a better and a worse next step, and solutions up to a better step.

`preference` is TRL's preference format, `{"prompt", "chosen", "rejected"}`: the prompt is the problem and the steps so
far. `sft` is a chat of the problem and the steps that end with a better one, `{"messages": [...]}`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from prm.exporters import exporter
from prm.formats.path import Taken, agreed_path, agreed_rating, parting, taken_path
from prm.formats.record import Record
from prm.formats.writing import STEP_WISE, UNSTATED, Loss
from prm.messages import Message
from prm.vocabulary import NeutralPolicy

JOINT = "\n\n"
NOT_HELD = (*UNSTATED, *STEP_WISE)


class Correction(NamedTuple):
    """A better and a worse step after the same steps."""

    before: list[str]
    better: str
    worse: str


def has_no_pair(record: Record) -> bool:
    """Whether no position has two steps, so that nothing depends on which texts are equal."""
    if max(map(len, record.positions), default=0) > 1:
        return False
    return not [place for label in record.annotations for place in label.path if place.own_text is not None]


@exporter(
    "preference",
    title=Message("export_preference"),
    two_classes=True,
    not_held=NOT_HELD,
    by_structure=has_no_pair,
)
def preference(record: Record, neutral: NeutralPolicy) -> Iterator[dict[str, str] | Loss]:
    pairs = list(corrections(record, neutral))
    if not pairs:
        yield _reason(record)
    for before, better, worse in pairs:
        yield {"prompt": JOINT.join([record.problem, *before, ""]), "chosen": better, "rejected": worse}


@exporter("sft", title=Message("export_sft"), two_classes=True, not_held=NOT_HELD, by_structure=has_no_pair)
def sft(record: Record, neutral: NeutralPolicy) -> Iterator[dict[str, Any] | Loss]:
    texts = dict.fromkeys(JOINT.join([*pair.before, pair.better]) for pair in corrections(record, neutral))
    if not texts:
        yield _reason(record)
    for text in texts:
        yield {"messages": [{"role": "user", "content": record.problem}, {"role": "assistant", "content": text}]}


def corrections(record: Record, neutral: NeutralPolicy) -> Iterator[Correction]:
    """Every good and every bad step at a position of the agreed path, by their agreed ratings.

    A step that an annotator wrote after the same steps is good. A neutral step is in the class of the policy, which
    may drop it.
    """
    before: list[str] = []
    path = agreed_path(record.annotations)
    for step in path:
        classes: dict[int | None, list[str]] = {1: [], 0: [], -1: []}
        for alternative, completion in enumerate(record.positions[step.position]):
            rating = agreed_rating(record, Taken(step.position, alternative, None, None))
            classes.setdefault(rating, []).append(completion.text)
        good = [*classes[1], *_own_steps(record, path, step.position)] + classes[0] * (neutral == "positive")
        bad = classes[-1] + classes[0] * (neutral == "negative")
        pairs = dict.fromkeys((better, worse) for better in good for worse in bad if better != worse)
        yield from (Correction(list(before), better, worse) for better, worse in pairs)
        own = step.alternative is None
        before.append((step.own_text or "") if own else record.positions[step.position][step.alternative or 0].text)


def _own_steps(record: Record, path: list[Taken], position: int) -> Iterator[str]:
    """The steps that annotators wrote at a position, on the agreed path until there."""
    for label in record.annotations:
        for place in label.path:
            if place.position == position and place.own_text:
                walked = taken_path(label.finish_reason, label.path)
                if parting((step for step in walked if step.position < position), path) >= position:
                    yield place.own_text


def _reason(record: Record) -> Loss:
    return Loss("no_correction" if record.annotations else "unlabelled")
