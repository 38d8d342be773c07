"""Which of the pool a model would have labelled next."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from django.db import connection, transaction

from annotation.loop.gateway.acquisition import Ranking, Scored, rank
from annotation.loop.selection import reading_times
from annotation.loop.selection.candidates import Candidates
from annotation.models import ModelVersion, Project
from prm.acquisition import FUNCTIONS

CHUNK = 2000
EMBEDDING_WIDTH = 32
NO_EMBEDDING = np.full(EMBEDDING_WIDTH, np.nan, dtype="<f2").tobytes()
OUTCOMES = {None: -1, False: 0, True: 1}

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
        return Ranking([], 0)
    return rank(
        acquisition_of(project),
        scored,
        budget=budget,
        cost=reading_times.cost_model(project),
        rng=rng,
        caps=project.policies.caps,
    )


def scored_of(model: ModelVersion, candidates: Candidates) -> Scored | None:
    """The model's scores of those candidates of which it could score a step, as columns; None for none."""
    parts = [part for rows in _score_rows(model) if (part := _columns(rows, candidates)) is not None]
    if not parts:
        return None
    place, steps, heads, chars, correct, embedding = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Scored(
        ids=candidates.ids[place],
        problem=candidates.problem[place],
        domain=candidates.domain[place],
        steps=steps,
        heads=heads,
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
    """Of the rows that are of candidates: their places among these, steps, heads [all steps, heads], lengths, outcomes
    and embeddings."""
    ids = np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows))
    place = np.minimum(np.searchsorted(candidates.ids, ids), len(candidates) - 1)
    wanted = candidates.ids[place] == ids
    selected = [row for row, is_wanted in zip(rows, wanted.tolist(), strict=True) if is_wanted]
    if not selected:
        return None
    lengths = [_scored_lengths(row[5], row[4]) for row in selected]
    steps = np.array([len(chars) for chars in lengths], dtype=np.int64)
    heads = np.frombuffer(b"".join(row[1] for row in selected), dtype="<f2").reshape(steps.sum(), -1)
    correct = np.array([OUTCOMES[row[3]] for row in selected], dtype=np.int8)
    return place[wanted], steps, heads, np.concatenate(lengths), correct, _embeddings([row[2] for row in selected])


def _scored_lengths(lengths: bytes, mean: list[float | None] | None) -> np.ndarray:
    """Characters of each scored step; `mean` is not None if some steps have no score."""
    chars = np.frombuffer(lengths, dtype=">i4")
    return chars if mean is None else chars[[p is not None for p in mean]]


def _embeddings(stored: Sequence[bytes]) -> np.ndarray:
    """[n, EMBEDDING_WIDTH] float16, NaN where a solution has none."""
    joined = b"".join(embedding or NO_EMBEDDING for embedding in stored)
    return np.frombuffer(joined, dtype="<f2").reshape(len(stored), -1)
