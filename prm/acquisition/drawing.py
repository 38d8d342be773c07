"""Draws a fixed number of candidates with exact unequal probabilities, spread over the embedding.

Candidates are arranged on a line, each with the length of its inclusion probability, and a random offset selects those
at every whole number (systematic sampling, Madow 1949). So adjacent candidates of total length s are drawn floor(s) or
ceil(s) times. Candidates of a problem are adjacent, and so are those of a domain; within a domain, problems are in the
order of a random tree over their embeddings. This is the generalised random tessellation of Stevens & Olsen (2004), a
spatially balanced sample: no region of the embedding is drawn much above its share, and inclusion probabilities do not
change.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from prm.acquisition.candidates import Array, Numbers

GUARD = 9  # digits of positions on the line; otherwise 1e-16 may push a capped problem over a whole number
DEEPEST = 20


def draw(
    included: Array,
    problem: Numbers,
    domain: Numbers,
    rng: np.random.Generator,
    embedding: NDArray[np.floating] | None = None,
) -> Numbers:
    """Indices drawn with exactly the probabilities `included`, at most their sum rounded up per problem and domain.

    `embedding` [n, width] is NaN for a candidate without one.
    """
    place = rng.permutation(problem.max() + 1)
    if embedding is not None:
        order = spread_order(*_centres(embedding.astype(float), included, problem), rng)
        place[order] = np.arange(len(order))
    line = np.lexsort([rng.random(len(included)), place[problem], rng.permutation(domain.max() + 1)[domain]])
    return cut_line(included, line, rng)


def draw_nested(included: Array, groups: Sequence[Numbers], rng: np.random.Generator) -> Numbers:
    """Indices drawn with exactly the probabilities `included`, evenly over nested groups.

    `groups` are codes [n], the outermost first. At every level, each group is drawn its sum rounded up or down.
    """
    places = [rng.permutation(group.max() + 1)[group] for group in groups]
    line = np.lexsort([rng.random(len(included)), *reversed(places)])
    return cut_line(included, line, rng)


def cut_line(included: Array, line: Numbers, rng: np.random.Generator) -> Numbers:
    """The candidates at a random offset plus every whole number on a line in the order of `line`."""
    ends = np.round(np.cumsum(included[line]), GUARD)
    begins = np.concatenate([[0.0], ends[:-1]])
    offset = rng.random()
    return line[np.floor(ends + offset) > np.floor(begins + offset)]


def spread_order(points: Array, mass: Array, rng: np.random.Generator) -> Numbers:
    """An order of `points` [n, width] in which near points are near each other.

    A k-d tree halves the mass along the widest axis of each cell until a cell has about one draw; left and right are
    swapped at random in each cell.
    """
    depth = int(np.clip(np.ceil(np.log2(max(mass.sum(), 1.0))) + 1, 1, DEEPEST))
    cell = np.zeros(len(points), dtype=np.int64)
    rows = np.arange(len(points))
    for level in range(depth):
        axis = _widest(points, cell, 2**level)
        value = points[rows, axis[cell]]
        order = np.lexsort([rng.random(len(points)), value, cell])
        of_cell = np.bincount(cell, mass, 2**level)
        before = np.concatenate([[0.0], np.cumsum(of_cell)[:-1]])
        middle = np.empty(len(points))
        middle[order] = np.cumsum(mass[order]) - mass[order] / 2
        right = middle - before[cell] > of_cell[cell] / 2
        cell = 2 * cell + (right ^ (rng.random(2**level) < 0.5)[cell])
    return np.lexsort([rng.random(len(points)), cell])


def _widest(points: Array, cell: Numbers, cells: int) -> Numbers:
    """The axis of greatest variance in each cell."""
    size = np.maximum(np.bincount(cell, minlength=cells), 1)
    variance = np.empty((points.shape[1], cells))
    for axis, column in enumerate(points.T):
        mean = np.bincount(cell, column, cells) / size
        variance[axis] = np.bincount(cell, (column - mean[cell]) ** 2, cells) / size
    return variance.argmax(axis=0)


def _centres(embedding: Array, included: Array, problem: Numbers) -> tuple[Array, Array]:
    """Each problem's mean embedding, weighted by inclusion, and its mass; the origin without embeddings."""
    known = ~np.isnan(embedding).any(axis=1)
    weight = included * known
    seen = np.maximum(np.bincount(problem, weight), 1e-300)
    columns = [np.bincount(problem, weight * np.where(known, column, 0.0)) / seen for column in embedding.T]
    return np.stack(columns, axis=1), np.bincount(problem, included).astype(float)
