"""Traces: solutions split into steps, with soft step labels, in the library's own format.

One JSON object per line (JSONL, UTF-8). This module imports neither torch nor numpy, so that a web process can use it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from prm.files import write_records
from prm.messages import Message
from prm.vocabulary import STEP_KINDS, SourceKind, Split

PROSE = ("reasoning", "plan", "answer")  # kinds of steps


class Step(msgspec.Struct, omit_defaults=True):
    """One step of a solution; `kind` is reasoning, plan, tool_call, observation, edit or answer."""

    text: str
    kind: Annotated[str, msgspec.Meta(pattern=f"^(?:{'|'.join(STEP_KINDS)})$")] = "reasoning"

    @property
    def is_prose(self) -> bool:
        """Whether the step is text in words, and neither a tool's nor code."""
        return self.kind in PROSE and "```" not in self.text


class StepLabel(msgspec.Struct, omit_defaults=True):
    """Posterior over the three ratings of one step; the three sum to 1.

    `weight` is the reliability of the label in [0, 1]; it scales the step's loss.
    """

    good: float
    neutral: float
    bad: float
    weight: float = 1.0

    def __post_init__(self) -> None:
        values = (self.good, self.neutral, self.bad)
        if not (min(values) >= 0 and abs(sum(values) - 1) <= 1e-6):  # so that NaN fails too
            raise ValueError(Message("not_probabilities"))
        if not 0 <= self.weight <= 1:
            raise ValueError(Message("weight_out_of_range"))

    @property
    def rating(self) -> int:
        """The most probable rating: 1, 0 or -1 (the worse one on a tie)."""
        best = max(self.good, self.neutral, self.bad)
        return -1 if self.bad == best else 0 if self.neutral == best else 1


class Alternative(msgspec.Struct, omit_defaults=True):
    """A completion at a position that is not on the path; `label` is None if it is undecided."""

    position: int
    step: Step
    label: StepLabel | None = None


class LabelSource(msgspec.Struct, omit_defaults=True):
    """A person or machine that contributed to a trace's labels.

    `kind` is human, simulated, consensus, model_judge, monte_carlo or heuristic; `name` a person's pseudonym or a
    machine's name. `first_error` is the one that this source labelled, -1 for none, None if unknown.
    """

    kind: SourceKind
    name: str = ""
    first_error: int | None = None


if TYPE_CHECKING:
    Steps = list[Step]
else:
    Steps = list[Step | str]  # the texts become steps


class Trace(msgspec.Struct, omit_defaults=True):
    """One solution as a path of steps; in a file and as an argument, a step may be a plain text.

    `labels` has one entry per step, None for a step that is unsure, not reached or not labelled; the field is None for
    an unlabelled solution. `first_error` is the position of the first bad step, -1 for none, None if unknown. An
    alternative is at any position of the path or directly after it, and follows the path's earlier steps. `sources` are
    the sources of the labels. `multiplicity` counts the equal samples that the trace stands for.
    """

    id: str
    problem: str
    steps: Steps
    problem_id: str = ""
    source_group: str = ""
    split: Split = "pool"
    domain: str = ""
    generator: str = ""
    labels: list[StepLabel | None] | None = None
    first_error: int | None = None
    reference_answer: str | None = None
    final_answer_correct: bool | None = None
    alternatives: list[Alternative] = []
    sources: list[LabelSource] = []
    multiplicity: Annotated[int, msgspec.Meta(ge=1)] = 1
    meta: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if isinstance(self.steps, str):
            raise ValueError(Message("steps_not_a_list"))
        if any(isinstance(step, str) for step in self.steps):
            self.steps = [Step(step) if isinstance(step, str) else step for step in self.steps]
        if self.labels is not None and len(self.labels) != len(self.steps):
            raise ValueError(
                Message("count_differs", given=Message("n_labels", n=len(self.labels)), steps=_steps(self))
            )
        if self.first_error is not None and not -1 <= self.first_error < len(self.steps):
            raise ValueError(Message("first_error_out_of_range", position=self.first_error, steps=_steps(self)))
        for alternative in self.alternatives:
            if not 0 <= alternative.position <= len(self.steps):
                raise ValueError(Message("alternative_out_of_range", position=alternative.position, steps=_steps(self)))


def _steps(trace: Trace) -> Message:
    return Message("n_steps", n=len(trace.steps))


def write_traces(path: Path | str, traces: Iterable[Trace]) -> int:
    """Write traces as JSONL, atomically replacing `path`; returns their number."""
    return write_records(path, traces)
