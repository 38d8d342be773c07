"""What training minimises, each a weighted mean over heads and rows, in nats. Pure functions of tensors."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid


def class_log_probabilities(logits: Tensor, log_prior: Tensor) -> Tensor:
    """[heads, steps] or [heads, steps, 3] logits to log-probabilities [heads, steps, classes], good first.

    `log_prior` [classes] is added first. Cross-entropy with weighted classes is least where the softmax is in
    proportion to weight times share; with the logs of the weights added here, the logits themselves come to be
    those of the data's own shares, so that balancing does not spoil calibration. (Menon et al. 2021, "Long-tail
    learning via logit adjustment", shift the same way to the opposite end.)
    """
    if logits.dim() == 3:
        return (logits + log_prior).log_softmax(2)
    logits = logits + (log_prior[0] - log_prior[1])
    return torch.stack([logsigmoid(logits), logsigmoid(-logits)], dim=2)


def soft_cross_entropy(log_p: Tensor, targets: Tensor, weights: Tensor, robustness: float = 0.0) -> Tensor:
    """Mean of sum_c t_c * (1 - p_c^q) / q, q being `robustness`: cross-entropy at q = 0.

    `log_p` [heads, steps, classes], `targets` [steps, classes], `weights` [heads, steps]. The generalised
    cross-entropy of Zhang & Sabuncu 2018 ("... for Training Deep Neural Networks with Noisy Labels", eq. 6):
    the larger q, the less a label that the model finds absurd can pull; q = 1 is the absolute error.
    """
    surprise = -torch.expm1(robustness * log_p) / robustness if robustness else -log_p
    return _mean((targets * surprise).sum(2), weights)


def preference_loss(better: Tensor, other: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Bradley-Terry (1952): cross-entropy of sigmoid(better - other) with p(the first is preferred).

    Logits [heads, pairs], `targets` [pairs], `weights` [heads, pairs].
    """
    logits = better - other
    loss = binary_cross_entropy_with_logits(logits, targets.expand_as(logits), reduction="none")
    return _mean(loss, weights)


def _mean(loss: Tensor, weights: Tensor) -> Tensor:
    """Weighted mean; 0 where nothing has weight."""
    return (loss * weights).sum() / weights.sum().clamp(min=1e-9)
