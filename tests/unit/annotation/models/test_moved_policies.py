"""Policies written before rounds had a schedule say the same afterwards."""

from importlib import import_module

import pytest

cron_of = import_module("annotation.migrations.0009_rounds_policy").cron_of


@pytest.mark.parametrize(
    ("hours", "cron"),
    [
        (1, "0 * * * *"),
        (5, "0 */6 * * *"),
        (12, "0 */12 * * *"),
        (13, "0 3 * * *"),
        (24, "0 3 * * *"),
        (48, "0 3 */2 * *"),
        (168, "0 3 */7 * *"),
        (24 * 30, "0 3 1 * *"),
    ],
)
def test_hours_between_rounds_become_a_schedule(hours, cron):
    assert cron_of(hours) == cron
