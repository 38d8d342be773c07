"""A causal LM that solves the sandbox's problems and can continue from any prefix.

Its solutions are graded by the world's reference answer alone. Those of the world's own solvers (`prm.sandbox.world`)
have the truth of every step, so a verifier's choice can be checked step by step.
"""

from collections.abc import Iterator, Sequence

import msgspec
import torch

from prm.backbones import Backbone
from prm.encoding import parse_step, tokenise
from prm.sandbox.solving import Policy, Start, final_answer
from prm.traces import Step, Trace

ROWS = 256  # continuations sampled together


class BackbonePolicy:
    """A causal LM that was trained on solutions in this library's layout, sampled at `temperature`.

    A continuation ends with the end of text, or after `most_tokens`; an incomplete last step is dropped. With
    `one_step` it also ends with the first step, if the layout has a separate token for the end of a step.
    """

    def __init__(
        self, backbone: Backbone, *, temperature: float = 1.0, most_tokens: int = 256, one_step: bool = False
    ) -> None:
        self.backbone, self.temperature, self.most_tokens = backbone, temperature, most_tokens
        end, mark = backbone.tokenizer.eos_token_id, backbone.layout.step_end
        self.ends = [end, *mark] if one_step and len(mark) == 1 else [end]

    def continue_from(self, starts: Sequence[Start], *, seed: int) -> list[list[Step]]:
        prompts = self._prompts(starts)
        order = sorted(range(len(starts)), key=lambda i: len(prompts[i]))
        continuations: list[list[Step]] = [[] for _ in starts]
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            for first in range(0, len(order), ROWS):
                rows = order[first : first + ROWS]
                for row, steps in zip(rows, self._sample([prompts[i] for i in rows]), strict=True):
                    continuations[row] = steps
        return continuations

    def _prompts(self, starts: Sequence[Start]) -> list[list[int]]:
        layout = self.backbone.layout
        traces = [Trace(id="", problem=start.problem, steps=list(start.steps)) for start in starts]
        return [
            [
                *layout.start,
                *problem,
                *layout.problem_end,
                *(token for step in steps for token in (*step, *layout.step_end)),
            ]
            for problem, *steps in tokenise(traces, self.backbone.tokenizer)
        ]

    def _sample(self, prompts: Sequence[list[int]]) -> list[list[Step]]:
        """Sample one batch, padded on the left so that all prompts end together."""
        longest = max(map(len, prompts))
        ids = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts])
        mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])
        end = self.backbone.tokenizer.eos_token_id
        with torch.no_grad():
            written = self.backbone.model.generate(
                input_ids=ids.to(self.backbone.device),
                attention_mask=mask.to(self.backbone.device),
                do_sample=True,
                temperature=self.temperature,
                top_k=0,
                top_p=1.0,
                max_new_tokens=min(self.most_tokens, self.backbone.context - longest),
                eos_token_id=self.ends,
                pad_token_id=end,
            )
        return [self._read(row) for row in written[:, longest:].tolist()]

    def _read(self, ids: list[int]) -> list[Step]:
        """The complete steps among sampled ids."""
        end, mark = self.backbone.tokenizer.eos_token_id, list(self.backbone.layout.step_end)
        ids = ids[: ids.index(end)] if end in ids else ids
        steps, begin = [], 0
        for k in range(len(ids)):
            if k >= begin and ids[k : k + len(mark)] == mark:
                steps.append(parse_step(self.backbone.tokenizer.decode(ids[begin:k]).strip()))
                begin = k + len(mark)
        return steps


def sample_solutions(policy: Policy, problems: Sequence[Trace], *, samples: int, seed: int) -> Iterator[Trace]:
    """`samples` solutions of each problem, graded by its reference answer; steps carry no labels.

    Of `problems` only the problem, the reference answer and the skill are used.
    """
    for number, problem in enumerate(problems):
        starts = [Start(problem.problem)] * samples
        for sample, steps in enumerate(policy.continue_from(starts, seed=seed * 1_000_003 + number)):
            answer = final_answer(steps)
            yield msgspec.structs.replace(
                problem,
                id=f"{problem.problem_id}-{sample}",
                steps=steps,
                generator="policy",
                labels=None,
                first_error=None,
                final_answer_correct=answer == problem.reference_answer,
                meta={"skill": problem.meta["skill"], "final_answer": answer},
            )
