"""One problem a line with all its sampled responses, as the Qwen2.5-Math evaluation writes them.

`pred_score` is a published outcome score of each response (one number in a list), `score` its correctness.
"""

from collections.abc import Iterator

import msgspec

from prm.scores import TraceScore
from prm.splitting import Splitting
from prm.traces import Step, Trace

LABEL = "sampled responses"
MARKS = frozenset({"question", "pred", "score", "code"})
PUBLISHED = "pred_score"
SPLITTING = Splitting("blank_lines", "drop")


class Samples(msgspec.Struct):
    """`code` holds the responses, `pred` their final answers."""

    idx: int
    question: str
    code: list[str]
    pred: list[str]
    score: list[bool]
    answer: str | None = None
    pred_score: list[list[float]] = []

    def __post_init__(self) -> None:
        if not len(self.code) == len(self.pred) == len(self.score):
            raise ValueError(f"{len(self.code)} responses, {len(self.pred)} answers, {len(self.score)} judgements")


def traces_of(record: Samples) -> Iterator[Trace]:
    """The responses, split into steps at blank lines."""
    for index, (text, answer, right) in enumerate(zip(record.code, record.pred, record.score, strict=True)):
        yield Trace(
            id=f"{record.idx}/{index}",
            problem=record.question,
            problem_id=str(record.idx),
            steps=[Step(step) for step in SPLITTING.split(text).steps],
            split="holdout",
            reference_answer=record.answer,
            final_answer_correct=right,
            meta={"final_answer": answer},
        )


def scores_of(record: Samples) -> Iterator[tuple[str, TraceScore]]:
    """The published outcome scores; steps have none."""
    for index, ((outcome, *_), text) in enumerate(zip(record.pred_score, record.code, strict=False)):
        none = [None] * len(SPLITTING.split(text).steps)
        yield PUBLISHED, TraceScore(f"{record.idx}/{index}", [*none], [*none], [*none], None, outcome=outcome)
