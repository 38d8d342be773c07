"""What training minimises."""

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits


def soft_cross_entropy(logits: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Weighted mean cross-entropy in nats: logits and weights [heads, steps], targets [steps] in [0, 1]."""
    loss = binary_cross_entropy_with_logits(logits, targets.expand_as(logits), reduction="none")
    return (loss * weights).sum() / weights.sum().clamp(min=1e-9)
