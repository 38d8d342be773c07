"""Metrics as text, to the character."""

import pytest

from prm.evaluation import Metric
from prm.evaluation.metrics import format_metric, percent


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.8123, ".812"), (-0.04, "-.040"), (0.9996, "1.000"), (1, "1.000"), (0, ".000"), (10.25, "10.250")],
)
def test_a_value_keeps_its_size_and_loses_its_leading_zero(value: float, text: str) -> None:
    assert format_metric(Metric(value, None, None)) == text


def test_a_difference_has_signs_and_what_is_unknown_has_none() -> None:
    assert format_metric(Metric(0.02, -0.01, 0.05), signed=True) == "+.020 [-.010, +.050]"
    assert (format_metric(Metric(None, None, None)), percent(Metric(None, None, None))) == ("-", "-")
    assert percent(Metric(0.123, None, None)) == "12\xa0%"
