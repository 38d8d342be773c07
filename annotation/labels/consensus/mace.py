"""MACE: each rating is either known or guessed by a habit of its annotator, fitted by EM. Pure numpy.

D. Hovy, T. Berg-Kirkpatrick, A. Vaswani and E. Hovy, "Learning whom to trust with MACE", NAACL 2013. Every class is
equally likely before the votes, nobody's votes count less for resembling others', and nothing is calibrated.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from annotation.labels.consensus.chains import CLASSES, NEVER, Array, expect, shares
from annotation.labels.consensus.copies import Kinship
from annotation.labels.consensus.crowd import Crowd, crowd_of
from annotation.labels.consensus.rates import COMPETENCE
from annotation.labels.consensus.tally import shares_of_ratings, tally_votes
from prm.consensus import Evidence, consensus_model
from prm.messages import Message

ROUNDS, CLOSE_ENOUGH = 200, 1e-5
IMAGINED = 1.0  # ratings that a person knew, and as many that they guessed


@consensus_model("mace", restore=Crowd.restore, title=Message("consensus_by_mace"))
def estimate(evidence: Evidence, *, start: Mapping[str, Any] | None = None) -> Crowd | None:
    """Fit the model; None if no step is settled and nobody shares one. It is fast, so it never needs a start."""
    tally = tally_votes(evidence)
    if tally is None:
        return None
    ballots, everyone = tally.checked, tally.everyone
    usual = shares_of_ratings(tally.all)
    prior = np.tile(shares((usual > 0).astype(float)), (len(tally.domains) + 1, 1))
    weight = np.ones(len(ballots.step))
    competence = np.full(everyone, COMPETENCE)
    own = habit = tally.habits(IMAGINED)
    truth = tally.first_guess
    for _ in range(ROUNDS):
        confusion = _confusion(competence, habit)
        before, truth = truth, expect(ballots, prior, confusion, weight)
        if np.abs(truth - before).max() < CLOSE_ENOUGH:
            break
        counts = tally.count(truth, tally.times)[:, :CLASSES]
        right = np.einsum("pkk->pk", counts)
        knew = right * (competence[:, None] / np.einsum("pkk->pk", confusion[:, :CLASSES]))
        rated = counts.sum(axis=(1, 2))
        competence = (knew.sum(axis=1) + IMAGINED) / (rated + 2 * IMAGINED)
        habit = shares(counts.sum(axis=1) - knew + IMAGINED * own)
    alone = Kinship(np.arange(everyone), np.zeros(everyone), 0.0)
    return crowd_of(tally, prior, confusion, tally.count(truth**2, tally.times), kinship=alone)


def _confusion(competence: Array, habit: Array) -> Array:
    """The confusion [people, classes + 1, words]; after the first error everything is guessed."""
    known = np.concatenate([np.eye(CLASSES), np.zeros((1, CLASSES))])
    knowing = competence[:, None, None] * np.append(np.ones(CLASSES), 0.0)[:, None]
    confusion: Array = knowing * known + (1 - knowing) * habit[:, None, :]
    return np.maximum(confusion, NEVER)
