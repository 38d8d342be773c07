"""Programs may send any form: a number field without a number, or with far too long a one, causes no server error."""

import pytest
from django.test import Client

from annotation.models import Project, Solution

HOSTILE = ["9" * 5000, "-1", "1e3", "", "٣", "²", "9" * 19, "9" * 18]


@pytest.mark.slow
@pytest.mark.parametrize("number", HOSTILE, ids=lambda number: f"{number[:4]}({len(number)})")
def test_a_number_that_is_none_is_answered(manager: Client, project: Project, number: str) -> None:
    solution = Solution.objects.filter(project=project).first()
    assert solution is not None
    step = solution.steps.order_by("position").first()
    assert step is not None
    case = {
        f"word-{step.pk}": "-1",
        f"span-{step.pk}": f"0:{number}",
        f"span-type-{step.pk}": "",
        f"span-comment-{step.pk}": "",
        f"consistent-{step.pk}": number,
        f"progress-{step.pk}": number,
        "seen": number,
    }
    sent = [
        (f"review/{solution.pk}/decide/", case),
        (f"review/{solution.pk}/decide/", {"seen": number, "accepts": number}),
        ("queue/change/", {"item": number, "to": number, "change": "pin"}),
        ("models/import/", {"folder": "none", "good": number}),
        ("gold/mark/", {"annotation": number}),
    ]
    for address, form in sent:
        assert manager.post(f"/p/algebra/{address}", form).status_code < 500, address
