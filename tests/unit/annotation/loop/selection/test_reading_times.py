"""What reading costs is learned from logged times, of what was read and no more."""

import msgspec
import numpy as np
import pytest

from annotation.loop.selection.reading_times import CAREFUL, ENOUGH, cost_model
from annotation.models import StepRating
from tests.factories import AnnotationFactory, MembershipFactory, ProjectFactory, SolutionFactory

pytestmark = pytest.mark.django_db


def read_some(project, n, *, seconds):
    """`n` of a person's readings, half of them up to an error; `seconds(steps, chars)` each."""
    rng = np.random.default_rng(0)
    reader = MembershipFactory(project=project)
    for k in range(n):
        texts = ["x" * int(size) for size in rng.integers(10, 200, rng.integers(2, 8))]
        solution = SolutionFactory(project=project, steps=texts)
        steps = list(solution.steps.order_by("position"))
        read = len(steps) if k % 2 else 1 + k // 2 % len(steps)
        annotation = AnnotationFactory(
            solution=solution,
            annotator=reader,
            total_ms=round(1000 * seconds(read, sum(map(len, texts[:read])))),
        )
        StepRating.objects.bulk_create(
            StepRating(
                annotation=annotation,
                step=step,
                state="rated" if i < read else "not_reached",
                rating=1 if i < read else None,
            )
            for i, step in enumerate(steps)
        )


def test_the_cost_is_fitted_to_what_was_read():
    project = ProjectFactory()
    read_some(project, ENOUGH + 10, seconds=lambda steps, chars: 9 + 2 * steps + 0.04 * chars)
    found = cost_model(project)
    assert (found.fixed_seconds, found.seconds_per_step, found.seconds_per_char) == pytest.approx(
        (9, 2, 0.04), rel=0.02
    )
    assert found.stops_at_error


def test_too_few_times_or_breaks_keep_the_defaults():
    project = ProjectFactory(scheme={"stop_at_first_error": False})
    read_some(project, ENOUGH - 1, seconds=lambda steps, chars: 5.0)
    read_some(project, 1, seconds=lambda steps, chars: 3600.0)
    assert cost_model(project) == msgspec.structs.replace(CAREFUL, stops_at_error=False)
