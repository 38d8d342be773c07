"""Which of the pool a model would have labelled next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection, transaction

from annotation.core.errors import DomainError
from annotation.labels.datasets.snapshots import read_snapshot
from annotation.loop.selection import reading_times
from annotation.loop.selection.candidates import Candidates
from annotation.models import ModelVersion, Project
from annotation.models.generation import LaneRecipe
from annotation.models.policy import Caps
from prm import acquisition
from prm.acquisition import FUNCTIONS, UNKNOWN, CostModel, Pool
from prm.answers.noise import PRIOR, AnswerNoise, fit_noise
from prm.errors import PRMError
from prm.formats.record_traces import trace_of
from prm.messages import Message

CHUNK = 2000
EMBEDDING_WIDTH = 32
NO_EMBEDDING = np.full(EMBEDDING_WIDTH, np.nan, dtype="<f2").tobytes()
OUTCOMES = {None: UNKNOWN, False: 0, True: 1}

# Lengths come as one string of big-endian int32 a solution: a million lists would cost more than all the rest.
SCORES = """
SELECT
    score.solution_id, score.heads, score.embedding, solution.final_answer_correct,
    CASE WHEN score.unscored_steps > 0 THEN score.mean END,
    (
        SELECT string_agg(int4send(length(step.text)), ''::bytea ORDER BY step.position)
        FROM annotation_step AS step WHERE step.solution_id = score.solution_id AND step.alternative = 0
    )
FROM annotation_poolscore AS score JOIN annotation_solution AS solution ON solution.id = score.solution_id
WHERE score.model_version_id = %s AND score.score IS NOT NULL
"""


@dataclass(frozen=True)
class Ranked:
    """A solution that an acquisition function chose: gain as the function measures it, expected cost in seconds."""

    id: int
    inclusion_probability: float
    gain: float
    expected_seconds: float


@dataclass(frozen=True)
class Ranking:
    """The chosen solutions, the most wanted first, and how they were chosen."""

    chosen: list[Ranked]
    recipe: LaneRecipe


def rank(
    name: str,
    candidates: Candidates,
    pool: Pool,
    *,
    budget: int,
    cost: CostModel,
    rng: np.random.Generator,
    caps: Caps,
    noise: AnswerNoise | None = None,
) -> Ranking:
    """At most `budget` of the candidates by acquisition function `name`, the highest gain first.

    `pool` has their scores, and `noise` is that of their grades if the function weighs them. Without a cap per problem,
    each problem gives one solution, and more only if the budget needs them.
    """
    of_problem = acquisition.least_cap(pool.problem, budget) if caps.problem is None else caps.problem
    limits = acquisition.Caps(of_problem, caps.domain)
    try:
        drawn = acquisition.rank_pool(name, pool, budget=budget, cost=cost, rng=rng, caps=limits, noise=noise or PRIOR)
    except PRMError as error:
        raise DomainError(Message("acquisition_of_policy_unknown", error=error), code="unknown_acquisition") from error
    columns = (candidates.ids[drawn.index], drawn.inclusion_probability, drawn.gain, drawn.expected_cost)
    chosen = [Ranked(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
    without = int((pool.correct == UNKNOWN).sum()) if FUNCTIONS.get(name).needs_outcome else None
    recipe = LaneRecipe(
        from_=len(pool),
        drawn=len(chosen),
        how="ranked",
        max_per_problem=of_problem,
        max_domain_share=caps.domain,
        cost=cost,
        without_outcome=without,
        noise=noise,
    )
    return Ranking(chosen, recipe)


def nothing_ranked(candidates: int) -> Ranking:
    return Ranking([], LaneRecipe(from_=candidates, drawn=0, how="ranked"))


def codes_of(values: np.ndarray) -> np.ndarray:
    """Whole numbers from 0 on for the values."""
    return np.unique(values, return_inverse=True)[1]


def acquisition_of(project: Project) -> str:
    """The project's acquisition function; information about the *first* error means little where every
    step is rated, so that the information of all ratings together takes its place there."""
    name = project.policies.acquisition
    if name in FUNCTIONS and FUNCTIONS.get(name).first_error and not project.label_scheme.stop_at_first_error:
        return "joint_bald"
    return name


def rank_pool(
    project: Project, model: ModelVersion, candidates: Candidates, budget: int, rng: np.random.Generator
) -> Ranking:
    """At most `budget` of the candidates that the model has scored, the most wanted first."""
    scored = scored_of(model, candidates) if budget and len(candidates) else None
    if scored is None:
        return nothing_ranked(0)
    name, (_, pool) = acquisition_of(project), scored
    weighs_grades = name in FUNCTIONS and FUNCTIONS.get(name).balanced and bool((pool.correct != UNKNOWN).any())
    return rank(
        name,
        *scored,
        budget=budget,
        cost=reading_times.cost_model(project),
        rng=rng,
        caps=project.policies.caps,
        noise=answer_noise_of(model) if weighs_grades else None,
    )


def scored_of(model: ModelVersion, candidates: Candidates) -> tuple[Candidates, Pool] | None:
    """Those candidates of which the model could score a step, and its scores of them; None for none."""
    parts = [part for rows in _score_rows(model) if (part := _columns(rows, candidates)) is not None]
    if not parts:
        return None
    place, steps, heads, chars, correct, embedding = (np.concatenate(column) for column in zip(*parts, strict=True))
    scored = candidates.where(place)
    return scored, Pool(
        problem=codes_of(scored.problem),
        domain=codes_of(scored.domain),
        steps=steps,
        p=heads,
        chars=chars,
        correct=correct,
        embedding=None if np.isnan(embedding).all() else embedding,
    )


def _score_rows(model: ModelVersion) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of SCORES, read through a cursor on the server."""
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(SCORES, [model.pk])
        while rows := cursor.fetchmany(CHUNK):
            yield rows


def _columns(rows: Sequence[tuple[Any, ...]], candidates: Candidates) -> tuple[np.ndarray, ...] | None:
    """Of the rows that are of candidates: their places among these, steps, heads [all steps, heads], characters of each
    scored step, outcomes, and embeddings [n, EMBEDDING_WIDTH] float16, NaN where a solution has none."""
    ids = np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows))
    place = np.minimum(np.searchsorted(candidates.ids, ids), len(candidates) - 1)
    wanted = candidates.ids[place] == ids
    selected = [row for row, is_wanted in zip(rows, wanted.tolist(), strict=True) if is_wanted]
    if not selected:
        return None
    lengths = [np.frombuffer(row[5], dtype=">i4") for row in selected]
    for number, row in enumerate(selected):
        if row[4] is not None:  # some steps have no score
            lengths[number] = lengths[number][[p is not None for p in row[4]]]
    steps = np.array([len(chars) for chars in lengths], dtype=np.int64)
    heads = np.frombuffer(b"".join(row[1] for row in selected), dtype="<f2").reshape(steps.sum(), -1)
    correct = np.array([OUTCOMES[row[3]] for row in selected], dtype=np.int8)
    embeddings = np.frombuffer(b"".join(row[2] or NO_EMBEDDING for row in selected), dtype="<f2")
    return place[wanted], steps, heads, np.concatenate(lengths), correct, embeddings.reshape(len(selected), -1)


def answer_noise_of(model: ModelVersion) -> AnswerNoise:
    """The noise among the labelled solutions of the pool in the model's snapshot; the prior without a snapshot."""
    if model.snapshot is None:
        return PRIOR
    try:
        records = read_snapshot(model.snapshot)
    except DomainError:  # the overview reports a lost file; labelling goes on
        return PRIOR
    return fit_noise(trace_of(record) for record in records if record.split == "pool").overall
