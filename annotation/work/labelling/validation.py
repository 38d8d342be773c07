"""Validates a submission against its solution and the project's label scheme."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from msgspec import UNSET

from annotation.core.errors import DomainError, Missing
from annotation.core.statements import fetch_all
from annotation.models import LabelScheme, Lease, Membership, Project, Solution, parse_scheme
from annotation.work.labelling.payload import GivenRating, GivenSpan, Submission
from annotation.work.labelling.refusing import refuse, refuse_unknown_type
from annotation.work.labelling.scheme_check import check
from annotation.work.labelling.seen_hints import check_seen
from prm.messages import Message

LENGTHS = "SELECT id, char_length(text) FROM annotation_step WHERE id = ANY(%(steps)s::bigint[])"

# The id, position and alternative of each step, in order.
STEPS = """(
    SELECT json_agg(json_build_array(step.id, step.position, step.alternative) ORDER BY step.position, step.alternative)
    FROM annotation_step step JOIN annotation_solution solution ON solution.id = step.solution_id
    WHERE solution.id = %(solution)s AND solution.project_id = %(project)s)"""

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

StepRows = list[tuple[int, int, int]]
Since = Callable[[], datetime | None]
# A claim reads the scheme, and then waits up to some seconds for locks before it stores the time of the claim.
CLAIM_WAIT = timedelta(minutes=1)


def validate(
    submission: Submission,
    project: Project,
    steps: StepRows | None = None,
    *,
    since: Since,
    ratings_suffice: bool = False,
) -> int | None:
    """The first error of a valid submission: a position, -1 for none, None if unknown.

    A submission must fit the current scheme, or one that the project has had since the person saw the solution
    (`since`), so that no work is lost when a manager changes the scheme. `since` is called only if the
    current scheme rejects the submission; if it returns None, only the current scheme applies. The error is that of the
    current scheme. `steps` is the result of `STEPS`, if the caller has it.

    With `ratings_suffice`, answers that the project requires besides the ratings may be missing. Raises Missing
    (`solution_not_found`), DomainError (`invalid_submission`, with the place in `extra.field`).
    """

    def fit(scheme: LabelScheme) -> int | None:
        return _validate(submission, positions, scheme, ratings_suffice)

    positions = _positions(project, submission.solution, steps)

    try:
        return fit(project.label_scheme)
    except DomainError:
        for scheme in _earlier_schemes(project, since()):
            with suppress(DomainError):
                return fit(scheme)
        raise


def validate_claimed(
    submission: Submission, membership: Membership, project: Project, steps: StepRows | None
) -> int | None:
    """As `validate`, for a submission by the person who claimed the solution."""

    def claimed() -> datetime | None:
        leases = Lease.objects.filter(annotator=membership, solution=submission.solution)
        at = leases.values_list("claimed_at", flat=True).first()
        return at and at - CLAIM_WAIT

    return validate(submission, project, steps, since=claimed)


def _earlier_schemes(project: Project, since: datetime | None) -> Iterator[LabelScheme]:
    """The schemes since then, latest first, from the audit log. Their keys do not matter, and may clash by now."""
    if since is None:
        return
    for (scheme,) in fetch_all(EARLIER, {"project": str(project.pk), "since": since}):
        yield parse_scheme(json.loads(scheme) | {"keys": {}})


def _validate(
    submission: Submission, positions: list[dict[int, int]], scheme: LabelScheme, ratings_suffice: bool
) -> int | None:
    critiques = _critiques(submission.solution, scheme)
    first_error = check(submission, positions, scheme, critiques, ratings_suffice=ratings_suffice)
    check_spans(submission, scheme)
    check_seen(submission.hints_seen or [], len(positions))
    return first_error


def _positions(project: Project, solution_id: int, steps: StepRows | None) -> list[dict[int, int]]:
    """For each position, the alternative of each completion by its id. Raises Missing (`solution_not_found`)."""
    positions: list[dict[int, int]] = []
    if steps is None:
        [(steps,)] = fetch_all(f"SELECT {STEPS}", {"solution": solution_id, "project": project.pk})
    for pk, position, alternative in steps or []:
        while len(positions) <= position:  # a position without completions stays empty
            positions.append({})
        positions[position][pk] = alternative
    if not positions and not Solution.objects.filter(project=project, pk=solution_id).exists():
        raise Missing(
            Message("solution_id_not_in_project", solution_id=solution_id, name=project.name), code="solution_not_found"
        )
    return positions


def _critiques(solution_id: int, scheme: LabelScheme) -> dict[int, int]:
    """The number of imported critiques of each step, by its id; empty if the project does not ask to rate them."""
    return dict(fetch_all(CRITIQUES, {"solution": solution_id})) if scheme.critique == "given" else {}


def check_spans(submission: Submission, scheme: LabelScheme) -> None:
    """Reject spans outside their step's text or against the scheme. The steps have been checked to exist.

    Raises DomainError (`invalid_submission`), whose `extra.field` names the place: `path[2].ratings[0].spans[1].end`.
    """
    marked = list(_marked(submission))
    if not marked:
        return
    lengths = dict(fetch_all(LENGTHS, {"steps": list({rating.step for _, rating, _ in marked})}))
    for field, rating, span in marked:
        _check_span(field, rating, span, lengths[rating.step], scheme)


def _marked(submission: Submission) -> Iterator[tuple[str, GivenRating, GivenSpan]]:
    for at, place in enumerate(submission.path):
        for index, rating in enumerate(place.ratings):
            for number, span in enumerate([] if rating.spans is UNSET else rating.spans):
                yield f"path[{at}].ratings[{index}].spans[{number}]", rating, span


def _check_span(field: str, rating: GivenRating, span: GivenSpan, length: int, scheme: LabelScheme) -> None:
    if rating.state == "not_reached":
        refuse(field, Message("mark_in_step_not_reached", step=rating.step))
    if span.end <= span.start:
        refuse(f"{field}.end", Message("mark_empty"))
    if span.end > length:
        refuse(f"{field}.end", Message("mark_after_text", n=length, step=rating.step))
    if span.error_type and rating.rating != -1:
        refuse(f"{field}.error_type", Message("mark_error_type_of_good_step"))
    refuse_unknown_type(f"{field}.error_type", span.error_type, scheme)
