"""Whether a submission may stand on its solution, as that is stored and as the project asks of it."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from annotation.core.errors import DomainError, Missing
from annotation.core.statements import fetch_all
from annotation.models import LabelScheme, Lease, Membership, Project, Solution, parse_scheme
from annotation.work.labelling.payload import Submission
from annotation.work.labelling.scheme_check import check
from annotation.work.labelling.seen_hints import check_seen
from annotation.work.labelling.spans import check_spans
from prm.messages import Message

STEPS = """
SELECT step.id, step.position, step.alternative
FROM annotation_step step JOIN annotation_solution solution ON solution.id = step.solution_id
WHERE solution.id = %(solution)s AND solution.project_id = %(project)s
ORDER BY step.position, step.alternative
"""

CRITIQUES = """
SELECT critique.step_id, count(*) FROM annotation_critique critique
JOIN annotation_step step ON step.id = critique.step_id WHERE step.solution_id = %(solution)s GROUP BY critique.step_id
"""

EARLIER = """
SELECT entry.before -> 'scheme' FROM annotation_auditentry entry
WHERE entry.target_type = 'project' AND entry.target_id = %(project)s AND entry.action = 'project.change'
  AND jsonb_exists(entry.before, 'scheme') AND entry.at > %(since)s
ORDER BY entry.id DESC
"""

Since = Callable[[], datetime | None]
# A claim shows the scheme that it read before it waited for its turn: at most some seconds.
WAITED = timedelta(minutes=1)


def allow(submission: Submission, project: Project, *, since: Since, ratings_do: bool = False) -> int | None:
    """The first error of a submission that may: a position, -1 for none, None where it is not known.

    It may by the present scheme, or by one that the project had after `since`, when it was shown what it is about: so
    nobody's work is lost when a manager changes what is asked while it is under way. `since` is called only where the
    present scheme refuses; None has no earlier ones. What fits none of them is refused by the present one.

    With `ratings_do` it need not say what the project asks beside the ratings. Raises Missing (`solution_not_found`),
    DomainError (`invalid_submission`, with the place in `extra.field`).
    """

    def fit(scheme: LabelScheme) -> int | None:
        return _allow(submission, project, scheme, ratings_do)

    try:
        return fit(project.label_scheme)
    except Missing:
        raise
    except DomainError:
        for scheme in _earlier_schemes(project, since()):
            with suppress(DomainError):
                return fit(scheme)
        raise


def allow_as_begun(submission: Submission, membership: Membership, project: Project) -> int | None:
    """As `allow`, for work on what the person was given."""

    def given() -> datetime | None:
        leases = Lease.objects.filter(annotator=membership, solution=submission.solution)
        claimed = leases.values_list("claimed_at", flat=True).first()
        return claimed and claimed - WAITED

    return allow(submission, project, since=given)


def _earlier_schemes(project: Project, since: datetime | None) -> Iterator[LabelScheme]:
    """The latest first, from the record of who changed what; keys are of pages, and two may have been one then."""
    if since is None:
        return
    for (scheme,) in fetch_all(EARLIER, {"project": str(project.pk), "since": since}):
        yield parse_scheme(json.loads(scheme) | {"keys": {}})


def _allow(submission: Submission, project: Project, scheme: LabelScheme, ratings_do: bool) -> int | None:
    positions = _positions(project, submission.solution)
    critiques = _critiques(submission.solution, scheme)
    first_error = check(submission, positions, scheme, critiques, ratings_do=ratings_do)
    check_spans(submission, scheme)
    check_seen(submission.hints_seen or [], len(positions))
    return first_error


def _positions(project: Project, solution_id: int) -> list[dict[int, int]]:
    """For each position the alternative of each completion, by its id."""
    positions: list[dict[int, int]] = []
    for pk, position, alternative in fetch_all(STEPS, {"solution": solution_id, "project": project.pk}):
        while len(positions) <= position:  # a position that came without any completion stays empty
            positions.append({})
        positions[position][pk] = alternative
    if not positions and not Solution.objects.filter(project=project, pk=solution_id).exists():
        raise Missing(
            Message("solution_id_not_in_project", solution_id=solution_id, name=project.name), code="solution_not_found"
        )
    return positions


def _critiques(solution_id: int, scheme: LabelScheme) -> dict[int, int]:
    """How many critiques came with a step, by its id; nothing is looked up where the project does not ask for them."""
    return dict(fetch_all(CRITIQUES, {"solution": solution_id})) if scheme.critique == "given" else {}
