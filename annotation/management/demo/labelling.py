"""Simulated annotators at work, through the services that people use."""

import uuid
from collections.abc import Mapping

import numpy as np
from django.contrib.auth.models import User

from annotation.loop.gateway.sandbox import Sandbox
from annotation.models import Lease, Project
from annotation.work.claiming import claim_next
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from annotation.work.labelling.submission import submit_annotation
from prm.sandbox.annotators import Reading

# How many solutions each profile labels, relative to the others.
PACE = {"careful": 6, "average": 3, "hasty": 1, "lenient": 1}


def work_through_queue(*, project: Project, annotators: Mapping[str, User], sandbox: Sandbox, seed: int) -> int:
    """Let the annotators claim and submit in turn until the queue has nothing for any of them.

    `annotators` maps the name of a skill profile to its account. Returns how many solutions were labelled.
    """
    rng = np.random.default_rng(seed)
    working = [name for name in annotators for _ in range(PACE[name])]
    labelled = 0
    while working:
        name = str(rng.choice(working))
        lease = claim_next(by=annotators[name], project=project, holding=[]).lease
        if lease is None:
            working = [active for active in working if active != name]
            continue
        reading = sandbox.read(lease.solution.external_id, profile=name, rng=rng)
        submit_annotation(by=annotators[name], project=project, submission=submission_of(lease, reading))
        labelled += 1
    return labelled


def submission_of(lease: Lease, reading: Reading) -> Submission:
    """The submission that the workbench would send for a reading of the leased solution."""
    steps = lease.solution.sampled_steps
    return Submission(
        submission_id=uuid.uuid4(),
        solution=lease.solution_id,
        lease=lease.pk,
        finish_reason="solution" if reading.first_error < 0 else "found_error",
        path=[
            GivenPosition(
                position=step.position,
                chosen=None if read.rating == -1 else step.pk,
                dwell_ms=read.dwell_ms,
                ratings=[
                    GivenRating(step=step.pk, state=read.state, rating=read.rating, flagged=read.state == "unsure")
                ],
            )
            for step, read in zip(steps, reading.steps, strict=False)
        ],
        total_ms=sum(read.dwell_ms for read in reading.steps),
    )
