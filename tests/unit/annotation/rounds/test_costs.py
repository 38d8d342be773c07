import numpy as np
import pytest

from annotation.rounds.costs import ReadingCost, fit


def test_finds_the_line_behind_noisy_times_with_breaks():
    rng = np.random.default_rng(0)
    chars = rng.integers(100, 1500, size=200)
    seconds = 12 + 0.04 * chars + rng.normal(0, 2, size=200)
    seconds[::10] += 300  # a telephone call
    found = fit(list(zip(chars.tolist(), seconds.tolist(), strict=True)))
    assert found.per_char == pytest.approx(0.04, rel=0.15)
    assert found.fixed == pytest.approx(12, abs=4)


def test_keeps_the_defaults_where_the_times_say_nothing():
    assert fit([(100, 5.0)] * 50) == ReadingCost()
    faster_the_longer = [(n, 100.0 - n / 100) for n in range(100, 200)]
    assert fit(faster_the_longer).per_char == ReadingCost().per_char
