"""A reward function for TRL's GRPO and RLOO trainers: one number per completion.

    trainer = GRPOTrainer(model=..., reward_funcs=Reward(verifier, Mix(outcome=1, steps=0.5)), train_dataset=...)

The data set's column `reference` (by default "answer") has the reference answers. Prompts and completions are texts or
lists of messages. `splitting` defines the steps of a completion and the treatment of hidden reasoning.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from prm.answers import final_answer
from prm.answers import process as answers
from prm.errors import DataError
from prm.messages import Message
from prm.rewards import terms
from prm.rewards.terms import Grader, Prover, discounted
from prm.search.endpoint import steps_of
from prm.search.verifiers import Verifier
from prm.splitting import Splitting
from prm.traces import Step, Trace

STEPS = Splitting("automatic", "drop")

log = logging.getLogger(__name__)
Text = str | Sequence[dict[str, Any]]  # of a prompt or completion: a text, or messages


class Mix(msgspec.Struct, frozen=True):
    """The weight of each term. The weight of `outcome` should exceed the sum of the others, which only guide."""

    outcome: float = 1.0
    steps: float = 0.5
    progress: float = 0.0
    efficiency: float = 0.0
    novelty: float = 0.0


class Parts(msgspec.Struct, frozen=True):
    """One completion's reward and its terms before weighting. `credits` are the steps' shares of `steps`, their sum;
    `advantages` are the steps' progress, empty if `progress` has no weight."""

    total: float
    outcome: float
    steps: float
    progress: float
    efficiency: float
    novelty: float
    credits: list[float]
    advantages: list[float]


@dataclass
class _Batch:
    """Completions as columns. `right` is None if the answer cannot be graded."""

    problems: list[str]
    texts: list[str]
    steps: list[list[Step]]
    references: list[str]
    right: list[bool | None]
    lengths: list[int]


@dataclass
class Reward:
    """Callable as a TRL reward function. `last` has the parts of the last batch, in order.

    `verifier` may be None if `steps` has no weight, and `prover` if `progress` has none. `grader` grades a last step
    against a reference; None counts as wrong. `on_parts` is called with the parts of every batch. `splitting` should be
    that of the verifier's training data; hidden reasoning is not scored unless its choice is "keep".
    """

    verifier: Verifier | None = None
    mix: Mix = field(default_factory=Mix)
    prover: Prover | None = None
    grader: Grader = field(default_factory=lambda: answers.Grader().agrees)
    splitting: Splitting = STEPS
    reference: str = "answer"
    discount: float = 0.9
    on_parts: Callable[[list[Parts]], None] | None = None
    last: list[Parts] = field(default_factory=list)
    _warned: bool = field(default=False, init=False, repr=False)
    __name__ = "stepmark"  # its name in the trainer's log

    def __post_init__(self) -> None:
        for term, source, name in (("steps", self.verifier, "verifier"), ("progress", self.prover, "prover")):
            if getattr(self.mix, term) and source is None:
                raise DataError(Message("reward_term_needs", term=term, name=name))

    def __call__(self, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any) -> list[float]:
        """One reward per completion. Raises DataError if a weighted term needs a missing column."""
        self.last = self.parts(prompts, completions, **columns)
        self._log_parts(columns.get("log_metric"))
        return [part.total for part in self.last]

    def parts(self, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any) -> list[Parts]:
        """The rewards with their parts."""
        batch = self._batch(prompts, completions, columns)
        n = len(batch.texts)
        credits = self._credits(batch) if self.mix.steps else [[0.0] * len(steps) for steps in batch.steps]
        advantages: list[list[float]] = [[] for _ in range(n)]
        if self.mix.progress:
            assert self.prover is not None, "__post_init__ requires it"
            advantages = self.prover.advantages(batch.problems, batch.steps, batch.references)
        values = {
            "outcome": [float(right is True) for right in batch.right],
            "steps": [sum(some) for some in credits],
            "progress": [discounted(some, self.discount) for some in advantages],
            "efficiency": terms.efficiency(batch.lengths, batch.right, batch.problems),
            "novelty": terms.novelty(batch.texts, batch.right, batch.problems),
        }
        weights = msgspec.structs.asdict(self.mix)
        return [
            Parts(
                total=sum(weights[name] * column[row] for name, column in values.items()),
                credits=credits[row],
                advantages=advantages[row],
                **{name: column[row] for name, column in values.items()},
            )
            for row in range(n)
        ]

    def _batch(self, prompts: Sequence[Text], completions: Sequence[Text], columns: dict[str, Any]) -> _Batch:
        texts = [_text(completion) for completion in completions]
        steps = [steps_of(text, self.splitting) for text in texts]
        self._warn_of_single_steps(steps)
        references = columns.get(self.reference)
        if references is None:
            if any(weight for name, weight in msgspec.structs.asdict(self.mix).items() if name != "steps"):
                raise DataError(Message("reference_column_missing", reference=self.reference))
            references = [""] * len(texts)
        ids = columns.get("completion_ids")
        return _Batch(
            problems=[_problem(prompt) for prompt in prompts],
            texts=texts,
            steps=steps,
            references=[str(reference) for reference in references],
            right=[
                self.grader(path[-1].text, str(reference)) if path and reference not in ("", None) else None
                for path, reference in zip(steps, references, strict=True)
            ],
            lengths=[len(text.split()) for text in texts] if ids is None else [len(some) for some in ids],
        )

    def _warn_of_single_steps(self, steps: Sequence[Sequence[Step]]) -> None:
        """Warn once: with a single step, its score is only a score of the whole solution."""
        single = sum(len(path) == 1 for path in steps)
        if self._warned or not single or not (self.mix.steps or self.mix.progress):
            return
        self._warned = True
        log.warning(
            "Single-step completions: %d of %d by the rule %r. Each gets one score as a whole. If they have several "
            "steps, pass another rule, such as Reward(..., splitting=Splitting('lines')). This warning is shown once.",
            single,
            len(steps),
            self.splitting.rule,
        )

    def _credits(self, batch: _Batch) -> list[list[float]]:
        assert self.verifier is not None, "__post_init__ requires it"
        traces = [Trace("", problem, path) for problem, path in zip(batch.problems, batch.steps, strict=True)]
        scores = self.verifier.score(traces)
        return [
            terms.min_form(terms.guarded(score.mean, path))
            if path and (right or final_answer(path[-1].text) is not None)
            else [0.0] * len(path)
            for score, path, right in zip(scores, batch.steps, batch.right, strict=True)
        ]

    def _log_parts(self, log_metric: Callable[[str, float], None] | None) -> None:
        """Log each term's mean and its share of the total absolute reward, also to the trainer."""
        weights = msgspec.structs.asdict(self.mix)
        moved = {name: sum(abs(w * getattr(part, name)) for part in self.last) for name, w in weights.items() if w}
        total = sum(moved.values()) or 1.0
        for name, amount in moved.items():
            mean = sum(getattr(part, name) for part in self.last) / max(1, len(self.last))
            log.info("reward %s: mean %.3f, share %.0f %%", name, mean, 100 * amount / total)
            if log_metric is not None:
                log_metric(f"reward/{name}", mean)
                log_metric(f"reward_share/{name}", amount / total)
        if self.on_parts is not None:
            self.on_parts(self.last)


def _text(completion: Text) -> str:
    """The text of a completion or of its messages."""
    if isinstance(completion, str):
        return completion
    return "\n\n".join(str(message.get("content") or "") for message in completion)


def _problem(prompt: Text) -> str:
    """The text of a prompt, or its last user message."""
    if isinstance(prompt, str):
        return prompt.strip()
    users = [message for message in prompt if message.get("role") == "user"]
    return str((users or list(prompt))[-1].get("content") or "").strip()
