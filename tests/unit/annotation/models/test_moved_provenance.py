"""What sampling runs left in `extra` is found again as provenance, and outcomes know where they are from."""

from importlib import import_module

import pytest
from django.db import connection

from annotation.formats.provenance import Provenance
from annotation.models import SamplingRun, Solution
from tests.factories import SolutionFactory

pytestmark = pytest.mark.django_db
MOVE = import_module("annotation.migrations.0016_provenance").MOVE


def sampled(run, **fields):
    said = {"run": run, "endpoint": "e", "model": "m", "temperature": 0.5, "max_tokens": 9, "prompt_sha256": "ab"}
    return SolutionFactory(external_id=f"sampling-{run}-1-0", extra={"sampled": said | {"seed": 4}, "x": 1}, **fields)


def test_samples_and_others():
    project = SolutionFactory().project
    run = SamplingRun.objects.create(project=project, endpoint="e", model="m", seed=4, prompt="Go: {problem}")
    ours, gone = sampled(run.pk, final_answer_correct=False), sampled(10**6)
    theirs = SolutionFactory(extra={"sampled": {"run": "mine"}}, final_answer_correct=True)
    with connection.cursor() as cursor:
        cursor.execute(MOVE)
    for one in (ours, gone, theirs):
        one.refresh_from_db()
    made = Provenance("m", 0.5, 4, "Go: {problem}", "", "raw", run.name, {"max_tokens": 9, "endpoint": "e"})
    assert (ours.origin, ours.extra, ours.outcome_source) == (made, {"x": 1}, "grader")
    assert (gone.origin.prompt, gone.outcome_source) == ("SHA-256 ab", "")
    assert (theirs.provenance, theirs.extra, theirs.outcome_source) == ({}, {"sampled": {"run": "mine"}}, "given")
    assert Solution.objects.filter(outcome_source="").count() == 2
