"""An ensemble of small MLP heads on one shared backbone, computed together."""

import torch
from torch import Tensor, nn


class Heads(nn.Module):
    """`n_heads` two-layer MLPs from standardised step features to the logit of "the step is good".

    The standardisation is fixed before training from the training steps and travels with the weights.
    """

    centre: Tensor
    scale: Tensor

    def __init__(self, n_heads: int, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.register_buffer("centre", torch.zeros(width))
        self.register_buffer("scale", torch.ones(width))
        self.enter = nn.Parameter(torch.randn(n_heads, width, hidden) * width**-0.5)
        self.enter_bias = nn.Parameter(torch.zeros(n_heads, 1, hidden))
        self.leave = nn.Parameter(torch.randn(n_heads, hidden, 1) * hidden**-0.5)
        self.leave_bias = nn.Parameter(torch.zeros(n_heads, 1, 1))
        self.dropout = dropout

    def standardise_on(self, rows: Tensor) -> None:
        """Fix centre and scale from `rows` [steps, width].

        A column that hardly varies beside its size is not blown up: its spread is mostly rounding,
        which differs from batch to batch.
        """
        self.centre.copy_(rows.mean(0))
        spread = rows.std(0, correction=0)
        self.scale.copy_(torch.maximum(spread, 1e-2 * rows.abs().mean(0)).clamp(min=1e-4))

    def forward(self, rows: Tensor) -> Tensor:
        """`rows` [steps, width] to logits [heads, steps]."""
        rows = ((rows - self.centre) / self.scale).clamp(-8, 8)
        rows = nn.functional.dropout(rows, self.dropout, self.training)
        hidden = torch.baddbmm(self.enter_bias, rows.expand(len(self.enter), -1, -1), self.enter)
        hidden = nn.functional.dropout(nn.functional.gelu(hidden), self.dropout, self.training)
        return torch.baddbmm(self.leave_bias, hidden, self.leave).squeeze(2)


def bootstrap_weights(groups: list[str], n_heads: int, seed: int) -> Tensor:
    """How often each head drew each row's group, [heads, rows]: whole groups, drawn with replacement.

    A head draws as many groups as there are, so with a single group every head sees it once.
    """
    index = {name: place for place, name in enumerate(sorted(set(groups)))}
    generator = torch.Generator().manual_seed(seed)
    draws = torch.randint(len(index), (n_heads, len(index)), generator=generator)
    counts = torch.zeros(n_heads, len(index)).scatter_add_(1, draws, torch.ones(draws.shape))
    return counts[:, [index[group] for group in groups]]
