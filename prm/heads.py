"""Ensembles of small MLPs on a step's features, computed together."""

import torch
from torch import Tensor, nn

from prm.config import TrainConfig
from prm.vocabulary import NeutralPolicy


class Heads(nn.Module):
    """`n_heads` two-layer MLPs from standardised step features to logits.

    Two classes: the logit of "the step is not an error". Three: logits of good, neutral and bad. The standardisation is
    fixed before training from the training steps and stored with the weights.
    """

    centre: Tensor
    scale: Tensor

    def __init__(self, n_heads: int, width: int, hidden: int, dropout: float, classes: int = 2) -> None:
        super().__init__()
        outputs = 1 if classes == 2 else classes
        self.register_buffer("centre", torch.zeros(width))
        self.register_buffer("scale", torch.ones(width))
        self.enter = nn.Parameter(torch.randn(n_heads, width, hidden) * width**-0.5)
        self.enter_bias = nn.Parameter(torch.zeros(n_heads, 1, hidden))
        self.leave = nn.Parameter(torch.randn(n_heads, hidden, outputs) * hidden**-0.5)
        self.leave_bias = nn.Parameter(torch.zeros(n_heads, 1, outputs))
        self.dropout = dropout

    def standardise_on(self, rows: Tensor) -> None:
        """Fix centre and scale from `rows` [steps, width or more].

        The scale has a minimum relative to the column's size: a smaller spread is mostly rounding, which differs from
        batch to batch.
        """
        rows = rows[:, : len(self.centre)]
        self.centre.copy_(rows.mean(0))
        spread = rows.std(0, correction=0)
        self.scale.copy_(torch.maximum(spread, 1e-2 * rows.abs().mean(0)).clamp(min=1e-4))

    def standard(self, rows: Tensor) -> Tensor:
        """The standardised columns [steps, width] of `rows` [steps, width or more]; further ones are not read."""
        return ((rows[:, : len(self.centre)] - self.centre) / self.scale).clamp(-8, 8)

    def forward(self, rows: Tensor) -> Tensor:
        """`rows` [steps, width or more] to logits: [heads, steps] for two classes, [heads, steps, 3] for three."""
        rows = nn.functional.dropout(self.standard(rows), self.dropout, self.training)
        hidden = torch.baddbmm(self.enter_bias, rows.expand(len(self.enter), -1, -1), self.enter)
        hidden = nn.functional.dropout(nn.functional.gelu(hidden), self.dropout, self.training)
        logits = torch.baddbmm(self.leave_bias, hidden, self.leave)
        return logits.squeeze(2) if logits.shape[2] == 1 else logits


class Readout(nn.Module):
    """A model's ensembles: `heads` for the step itself, `outcome` for the solution's final answer.

    A part whose weight in the loss is 0 is absent (None). Without `heads`, step scores are the outcome ensemble's at
    each step: p(the final answer will be right | the steps so far).
    """

    def __init__(self, config: TrainConfig, width: int) -> None:
        super().__init__()
        size = (config.heads, width, config.hidden, config.dropout)
        self.neutral: NeutralPolicy = config.neutral
        self.heads = Heads(*size, config.classes) if config.process_weight else None
        self.outcome = Heads(*size) if config.outcome_weight else None

    def standardise_on(self, rows: Tensor) -> None:
        """Fix the centre and scale of every ensemble from `rows` [steps, width]."""
        for part in self.children():
            assert isinstance(part, Heads)
            part.standardise_on(rows)

    def step_logits(self, rows: Tensor) -> Tensor:
        """`rows` [steps, width] to logits of "the step is not an error", [heads, steps], for any classes."""
        if self.heads is not None:
            return good_logit(self.heads(rows), self.neutral)
        return self.outcome_logits(rows)

    def outcome_logits(self, rows: Tensor) -> Tensor:
        """`rows` [steps, width] to logits of "the final answer is right", [heads, steps]; requires that part."""
        assert self.outcome is not None
        logits: Tensor = self.outcome(rows)
        return logits


def good_logit(logits: Tensor, neutral: NeutralPolicy) -> Tensor:
    """The logit of "the step is not an error", [heads, steps], from the output of `Heads`.

    With three classes it depends on the neutral policy: "positive" counts neutral as good, "negative" as bad, and
    "drop" compares good with bad alone.
    """
    if logits.dim() == 2:
        return logits
    good, middle, bad = logits.unbind(2)
    if neutral == "positive":
        return torch.logaddexp(good, middle) - bad
    return good - (torch.logaddexp(middle, bad) if neutral == "negative" else bad)


def bootstrap_weights(groups: list[str], n_heads: int, seed: int) -> Tensor:
    """The number of times that each head drew each row's group with replacement, [heads, rows].

    A head draws as many groups as there are, so a single group counts once for every head.
    """
    index = {name: place for place, name in enumerate(sorted(set(groups)))}
    if not index:
        return torch.zeros(n_heads, 0)
    generator = torch.Generator().manual_seed(seed)
    draws = torch.randint(len(index), (n_heads, len(index)), generator=generator)
    counts = torch.zeros(n_heads, len(index)).scatter_add_(1, draws, torch.ones(draws.shape))
    return counts[:, [index[group] for group in groups]]
