"""Computes the loss of a batch from its features.

The losses are pure functions of tensors, each a weighted mean over heads and rows, in nats.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid

from prm.config import TrainConfig
from prm.heads import Heads, Readout, bootstrap_weights, good_logit
from prm.training.supervision import Claims, Supervision


def class_log_probabilities(logits: Tensor, log_prior: Tensor) -> Tensor:
    """[heads, steps] or [heads, steps, 3] logits to log-probabilities [heads, steps, classes], good first.

    `log_prior` [classes] is added first. Cross-entropy with weighted classes is minimal if the softmax is proportional
    to weight times share. With the logs of the weights added here, the logits themselves correspond to the data's own
    shares, so that balancing preserves calibration. (Menon et al. 2021, "Long-tail learning via logit adjustment", use
    the same shift for the opposite purpose.)
    """
    if logits.dim() == 3:
        return (logits + log_prior).log_softmax(2)
    logits = logits + (log_prior[0] - log_prior[1])
    return torch.stack([logsigmoid(logits), logsigmoid(-logits)], dim=2)


def soft_cross_entropy(log_p: Tensor, targets: Tensor, weights: Tensor, robustness: float = 0.0) -> Tensor:
    """Mean of sum_c t_c * (1 - p_c^q) / q, q being `robustness`: cross-entropy at q = 0.

    `log_p` [heads, steps, classes], `targets` [steps, classes], `weights` [heads, steps]. The generalised
    cross-entropy of Zhang & Sabuncu 2018 ("... for Training Deep Neural Networks with Noisy Labels", eq. 6): a larger q
    reduces the influence of labels that the model finds improbable; q = 1 is the absolute error.
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


def claims_loss(log_p: Tensor, claim: Tensor, evidence: Tensor, weights: Tensor, shift: float = 0.0) -> Tensor:
    """Negative log-likelihood of what was observed about "no step is an error", a claim whose probability is a product.

    `log_p` [heads, steps] are logs of p(good), `claim` [steps] numbers the claims, `evidence` [claims] is their t, and
    `weights` [heads, claims]. With `shift` 0 it is -ln [t P + (1 - t) (1 - P)], P = prod p_k, where t / (1 - t) is the
    likelihood ratio of the observation. `shift` is added to the log-odds of P if the claims are drawn with other shares
    than P refers to. Everything is in logs, so that neither hundreds of steps nor certainty overflow.

    This is multiple-instance learning with a noisy-or (Maron & Lozano-Perez 1998): the bag is the solution, and the
    instances are its steps. Unlike a cross-entropy with t as the target, it does not pull P to t where observations are
    often wrong (the forward correction of Patrini et al. 2017, "Making deep neural networks robust to label noise").
    """
    product = log_p.new_zeros(len(log_p), len(evidence)).index_add(1, claim, log_p)
    log_odds = product - _log_one_minus_exp(product) + shift
    true, false = evidence.log() + logsigmoid(log_odds), torch.log1p(-evidence) + logsigmoid(-log_odds)
    return _mean(-torch.logaddexp(true, false), weights)


def _log_one_minus_exp(x: Tensor) -> Tensor:
    """ln(1 - e^x) for x < 0, by the form that is exact on either side of -ln 2 (Maechler 2012)."""
    x = x.clamp(max=-1e-12)
    near = x > -math.log(2)
    return torch.where(
        near,
        torch.log(-torch.expm1(torch.where(near, x, -1.0))),
        torch.log1p(-torch.exp(torch.where(near, -1.0, x))),
    )


def _mean(loss: Tensor, weights: Tensor) -> Tensor:
    """Weighted mean; 0 if nothing has weight."""
    return (loss * weights).sum() / weights.sum().clamp(min=1e-9)


SHARE_STEPS = 50  # of expectation maximisation, for the share of true claims
EFFECTIVE_BETA = 0.999  # of class-balanced weights: labels beyond about a thousand per class add little


class Objective:
    """The loss of a run: step labels, claims about unread solutions, preferences, final answers and anchors.

    Each head learns from its own bootstrap draw of whole source groups, of labelled and of unread solutions each.
    Create it with `readout` on its device and before loading a checkpoint: the anchors are the weights at that time.
    """

    def __init__(self, readout: Readout, fit: Supervision, held: Supervision, config: TrainConfig) -> None:
        self.readout, self.fit, self.held, self.config = readout, fit, held, config
        unread = fit.unread
        rows_of_unread = sum(map(len, unread.rows))
        drawn = bootstrap_weights(fit.groups[: len(fit.groups) - rows_of_unread], config.heads, config.seed)
        self.draws = torch.cat([drawn, torch.zeros(config.heads, rows_of_unread)], dim=1)
        self.unread_draws = bootstrap_weights(unread.groups, config.heads, config.seed)
        self.unread_of_row = torch.full((len(fit.good),), -1)
        for number, rows in enumerate(unread.rows):
            self.unread_of_row[rows.start : rows.stop] = number
        targets, weights = _class_targets(fit, config.classes)
        self.class_weights = class_weights(targets, weights, config)
        self.log_prior = self.class_weights.log()  # added to the logits in training only
        self.held_targets, self.held_weights = _class_targets(held, config.classes)
        by_held = config.class_balance == "held" and bool(self.held_weights.any())
        self.sources = [
            Source(unread.grades, config.graded_weight, self, (held if by_held else fit).flawless),
            Source(unread.estimates, config.estimate_weight, self, (held if by_held else fit).before_error),
        ]
        if by_held:
            self.log_prior = _log_shares(targets, weights) - _log_shares(self.held_targets, self.held_weights)
        balanced = targets * self.class_weights
        # Label smoothing (Szegedy et al. 2016, section 7): `share` of each label spread over the classes.
        share = config.label_smoothing
        self.targets = (1 - share) * (balanced / balanced.sum(1, keepdim=True)) + share / targets.shape[1]
        self.weights = weights * balanced.sum(1)
        self.preferences, self.decided = _preferences(fit)
        self.rows_in_batch = torch.full((len(fit.good),), -1)
        self.anchors = [part for module in readout.children() for part in _anchors(module)] if config.anchor else []

    def loss(self, rows: Tensor, index: Tensor, whole: Tensor | None = None) -> Tensor:
        """The loss of a batch: features `rows` [n, width] of the fit part's rows `index` [n] (on the CPU).

        Each term is a weighted mean over its data in the batch, 0 without data; a pair counts if both its rows are in
        the batch. For a part of a batch, `whole` has the rows of the batch: the losses of parts that divide no pair sum
        to that of the batch.
        """
        config, readout = self.config, self.readout
        loss = rows.new_zeros(())
        draws = self.draws[:, index].to(rows.device)
        if readout.heads is not None:
            logits = readout.heads(rows)
            log_p = class_log_probabilities(logits, self.log_prior.to(rows.device))
            targets, weights = (part[index].to(rows.device) for part in (self.targets, self.weights))
            steps = soft_cross_entropy(log_p, targets, draws * weights, config.robustness)
            loss = loss + config.process_weight * steps * _share(self._step_weight, index, whole)
            if config.pairwise_weight and len(self.fit.pairs):
                pairs = self._preference_loss(logits, index, draws)
                loss = loss + config.pairwise_weight * pairs * _share(self._pair_weight, index, whole)
            for source in self.sources:
                if source.teaches(index):
                    claims = source.loss(good_logit(logits, config.neutral), index)
                    loss = loss + source.weight * claims * _share(source.draws, index, whole)
        if readout.outcome is not None:
            ended = self.fit.ends[index] > 0
            right = self.fit.right[index[ended]].to(rows.device)
            answers = _outcome_loss(readout, rows[ended], right, draws[:, ended])
            loss = loss + config.outcome_weight * answers * _share(self._answer_weight, index, whole)
        return loss + self._anchor_loss() * _share(len, index, whole) if self.anchors else loss

    @property
    def holds(self) -> bool:
        """Whether the held-out part has labels, so that there is a held-out loss."""
        answers = self.readout.outcome is not None and bool(self.held.ends.any())
        return answers or (self.readout.heads is not None and bool(self.held_weights.any()))

    def held_losses(self, rows: Tensor) -> dict[str, float]:
        """Weighted plain cross-entropy of each part of the readout on the held-out features [held rows, width].

        It omits balance, smoothing, robustness, pairs and anchors, so that runs with different settings are comparable.
        """
        losses, readout = {}, self.readout
        if readout.heads is not None and bool(self.held_weights.any()):
            log_p = class_log_probabilities(readout.heads(rows), rows.new_zeros(self.config.classes))
            weights = self.held_weights.to(rows.device).expand(log_p.shape[:2])
            steps = soft_cross_entropy(log_p, self.held_targets.to(rows.device), weights)
            losses["heads"] = self.config.process_weight * float(steps)
        if readout.outcome is not None and bool(self.held.ends.any()):
            ended = self.held.ends > 0
            right = self.held.right[ended].to(rows.device)
            once = right.new_ones(self.config.heads, len(right))
            losses["outcome"] = self.config.outcome_weight * float(_outcome_loss(readout, rows[ended], right, once))
        return losses

    def trace_ids(self, index: Tensor) -> list[str]:
        """The sorted ids of the traces of these rows."""
        return sorted({self.fit.trace_ids[row] for row in index.tolist()})

    def _step_weight(self, index: Tensor) -> float:
        return float((self.draws[:, index] * self.weights[index]).sum())

    def _pair_weight(self, index: Tensor) -> float:
        both = torch.isin(self.fit.pairs, index).all(1)
        return float((self.draws[:, self.fit.pairs[both, 0]] * self.decided[both]).sum())

    def _answer_weight(self, index: Tensor) -> float:
        return float((self.draws[:, index] * self.fit.ends[index]).sum())

    def _preference_loss(self, logits: Tensor, index: Tensor, draws: Tensor) -> Tensor:
        self.rows_in_batch[index] = torch.arange(len(index))
        pairs = self.rows_in_batch[self.fit.pairs]
        self.rows_in_batch[index] = -1
        both = (pairs >= 0).all(1)
        first, second = pairs[both].to(logits.device).unbind(1)
        z = good_logit(logits, self.config.neutral)
        weights = draws[:, first] * self.decided[both].to(logits.device)
        return preference_loss(z[:, first], z[:, second], self.preferences[both].to(logits.device), weights)

    def _anchor_loss(self) -> Tensor:
        """Half the squared distance to the initial draw in units of its variance, a mean over heads and labels.

        Pearce et al. 2020, "Uncertainty in neural networks: approximately Bayesian ensembling", with
        cross-entropy in place of the squared error. Biases start at 0 in every head and stay free.
        """
        parts = [((weight - start) ** 2).sum() / variance for weight, start, variance in self.anchors]
        labels = float(self.fit.used(self.config).sum())
        return self.config.anchor * torch.stack(parts).sum() / (2 * self.config.heads * labels)


class Source:
    """The likelihood of one source's claims about unread solutions: graded answers, or Monte Carlo estimates.

    `meant` is the share of true claims to which the objective's logits refer: of the held-out part with `class_balance`
    "held", and else of the labelled part. The weight shrinks if an epoch draws fewer steps of unread solutions than it
    has labelled ones, because heads learn few claims by heart.
    """

    def __init__(self, claims: Claims, weight: float, objective: Objective, meant: float) -> None:
        self.claims, self.objective = claims, objective
        self.weight = weight * self._steps_for_each_label()
        self.claim_of_row = torch.full((len(objective.fit.good),), -1)
        self.claim_of_row[claims.row] = torch.arange(len(claims.row))
        self.shift = self._shift(meant)

    def teaches(self, index: Tensor) -> bool:
        """Whether rows of a batch have claims that count."""
        return self.weight > 0 and bool((self.claim_of_row[index] >= 0).any())

    def draws(self, index: Tensor) -> float:
        """The weight of the batch's claims, of all heads together."""
        numbers = self.claim_of_row[index]
        return float(self.objective.unread_draws[:, self.claims.solution[numbers[numbers >= 0]]].sum())

    def loss(self, logits: Tensor, index: Tensor) -> Tensor:
        """`claims_loss` of the claims at rows `index` [n] of a batch; `logits` [heads, n] of p(good)."""
        solution, device = self.objective.unread_of_row[index], logits.device
        at = (self.claim_of_row[index] >= 0).nonzero().squeeze(1)
        numbers = self.claim_of_row[index[at]]
        up_to = (solution == solution[at][:, None]) & (index <= index[at][:, None])
        claim, row = up_to.nonzero().unbind(1)
        return claims_loss(
            logsigmoid(logits[:, row.to(device)]),
            claim.to(device),
            self.claims.evidence[numbers].to(device),
            self.objective.unread_draws[:, self.claims.solution[numbers]].to(device),
            self.shift,
        )

    def _steps_for_each_label(self) -> float:
        """The steps that an epoch draws from as many right as wrong solutions, for each labelled step; at most 1."""
        fit = self.objective.fit
        numbers = self.claims.solution.unique().tolist()
        sides = [[len(fit.unread.rows[i]) for i in numbers if fit.unread.right[i] == side] for side in (False, True)]
        pairs = min(map(len, sides))
        steps = sum(pairs * sum(side) / len(side) for side in sides if side)
        return min(1.0, steps / max(1, int(fit.used(self.objective.config).sum())))

    def _shift(self, meant: float) -> float:
        """Log-odds of true claims as drawn, half of the solutions right and half wrong, minus that of `meant`."""
        sides = torch.tensor(self.objective.fit.unread.right)
        if not len(self.claims.row) or not sides.any() or sides.all():
            return 0.0
        right = sides[self.claims.solution]
        weights = torch.where(right, 1 / sides.sum(), 1 / (~sides).sum())
        drawn = torch.tensor(meant)
        for _ in range(SHARE_STEPS):
            true = (self.claims.evidence.logit() + drawn.logit()).sigmoid()
            drawn = (weights * true).sum() / weights.sum()
        return float(drawn.logit() - torch.tensor(meant).logit())


def _share(weight: Callable[[Tensor], float], index: Tensor, whole: Tensor | None) -> float:
    """A part's share of the whole batch's weight; 1 for a batch in one part."""
    return 1.0 if whole is None else weight(index) / max(weight(whole), 1e-9)


def _log_shares(targets: Tensor, weights: Tensor) -> Tensor:
    """The log of each class's share of the labels, with one added label per class: [classes]."""
    counts = (targets * weights[:, None]).sum(0) + 1
    return (counts / counts.sum()).log()


def class_weights(targets: Tensor, weights: Tensor, config: TrainConfig) -> Tensor:
    """The weight of each class, [classes], 1 on average over the labels; a class without labels has 1.

    "none" and "held" weight all classes equally. "inverse": 1 / n of the class. "effective": (1 - b) / (1 - b^n), the
    effective number of Cui et al. 2019, "Class-balanced loss based on effective number of samples", eq. 3. `targets`
    [rows, classes], `weights` [rows].
    """
    counts = (targets * weights[:, None]).sum(0).double()
    present = counts > 0
    if config.class_balance in ("none", "held") or present.sum() < 2:
        return torch.ones(len(counts))
    size = counts if config.class_balance == "inverse" else (1 - EFFECTIVE_BETA**counts) / (1 - EFFECTIVE_BETA)
    raw = torch.where(present, 1 / size.clamp(min=1e-9), torch.inf)
    raw = torch.where(present, raw.clamp(max=config.balance_cap * raw.min()), raw.min())
    return (raw * counts.sum() / (raw * counts).sum()).float().where(present, torch.ones(()))


def _class_targets(known: Supervision, classes: int) -> tuple[Tensor, Tensor]:
    """Targets [rows, classes], good first, and weights [rows]."""
    weights = known.step_weights(classes)
    return (known.posterior if classes == 3 else torch.stack([known.good, 1 - known.good], dim=1)), weights


def _preferences(known: Supervision) -> tuple[Tensor, Tensor]:
    """p(the first of a pair is preferred | one is), and the pair's weight, both [pairs].

    A completion is preferred if it is right and the other is an error; their posteriors are assumed independent.
    """
    first, second = (known.good[rows] for rows in known.pairs.unbind(1))
    forth, back = first * (1 - second), second * (1 - first)
    reliability = known.weight[known.pairs].amin(1)
    return forth / (forth + back).clamp(min=1e-9), reliability * (forth + back)


def _outcome_loss(readout: Readout, rows: Tensor, right: Tensor, weights: Tensor) -> Tensor:
    """Cross-entropy of the final answer at last steps: `right` [rows], `weights` [heads, rows]."""
    log_p = class_log_probabilities(readout.outcome_logits(rows), rows.new_zeros(2))
    return soft_cross_entropy(log_p, torch.stack([right, 1 - right], dim=1), weights)


def _anchors(module: torch.nn.Module) -> list[tuple[Tensor, Tensor, float]]:
    """The weights of an ensemble, their initial draw, and the variance of the draw."""
    assert isinstance(module, Heads)
    return [(weight, weight.detach().clone(), 1 / weight.shape[1]) for weight in (module.enter, module.leave)]
