"""Student's t against the tables."""

import pytest

from prm.intervals import student_quantile


@pytest.mark.parametrize(
    ("chance", "freedom", "t"),
    [(0.975, 3, 3.1824), (0.975, 9, 2.2622), (0.995, 9, 3.2498), (0.9995, 9, 4.7809), (0.99995, 29, 4.5055)],
)
def test_the_quantiles_of_students_t_are_those_of_the_tables(chance, freedom, t):
    assert student_quantile(chance, freedom) == pytest.approx(t, rel=2e-3)
