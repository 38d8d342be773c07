"""Whether a submission may stand on its solution, as that is stored and as the project asks of it."""

import json
from collections.abc import Iterator
from contextlib import suppress

import msgspec
from django.utils.translation import gettext as _
from msgspec import UNSET

from annotation.errors import DomainError, Missing
from annotation.labelling.checking import check
from annotation.labelling.hints import check_seen
from annotation.labelling.payload import Submission
from annotation.labelling.spans import check_spans
from annotation.models import LabelScheme, Membership, Project, Solution, parse_scheme
from annotation.statements import fetch_all

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

# A claim shows the scheme that it read before it waited for its turn: at most some seconds.
EARLIER = """
SELECT entry.before -> 'scheme' FROM annotation_auditentry entry
JOIN annotation_lease lease ON lease.annotator_id = %(annotator)s AND lease.solution_id = %(solution)s
WHERE entry.target_type = 'project' AND entry.target_id = %(project)s AND entry.action = 'project.change'
  AND jsonb_exists(entry.before, 'scheme') AND entry.at > lease.claimed_at - interval '1 minute'
ORDER BY entry.id DESC
"""


def allow(submission: Submission, project: Project, *, ratings_do: bool = False) -> int | None:
    """The first error of a submission that may: a position, -1 for none, None where it is not known.

    With `ratings_do` it need not say what the project asks beside the ratings. Raises Missing (`solution_not_found`),
    DomainError (`invalid_submission`, with the place in `extra.field`).
    """
    scheme = project.label_scheme
    return _allow(submission, project, _as_far_as_told(submission, scheme) if ratings_do else scheme)


def allow_as_begun(submission: Submission, membership: Membership, project: Project) -> int | None:
    """As `allow`, also by a scheme that the project had since the person was given the solution.

    So nobody's work is lost when a manager changes what is asked while it is under way. What fits none of them is
    refused by the present one.
    """
    try:
        return allow(submission, project)
    except Missing:
        raise
    except DomainError:
        for scheme in _earlier_schemes(submission, membership):
            with suppress(DomainError):
                return _allow(submission, project, scheme)
        raise


def _earlier_schemes(submission: Submission, membership: Membership) -> Iterator[LabelScheme]:
    """The latest first, from the record of who changed what."""
    asked = {
        "annotator": membership.pk,
        "solution": submission.solution,
        "project": str(membership.project_id),
    }
    for (scheme,) in fetch_all(EARLIER, asked):
        yield parse_scheme(json.loads(scheme))


def _allow(submission: Submission, project: Project, scheme: LabelScheme) -> int | None:
    positions = _positions(project, submission.solution)
    first_error = check(submission, positions, scheme, _critiques(submission.solution, scheme))
    check_spans(submission, scheme)
    check_seen(submission.hints_seen or [], len(positions))
    return first_error


def _as_far_as_told(submission: Submission, scheme: LabelScheme) -> LabelScheme:
    """The scheme without its questions about a found error that the submission leaves open."""
    said = [rating.dimensions for place in submission.path for rating in place.ratings if rating.dimensions]
    criticised = any(one.critique or one.critique_ratings for one in said)
    return msgspec.structs.replace(
        scheme,
        ask_progress=scheme.ask_progress and submission.progress is not UNSET,
        critique=scheme.critique if criticised else "none",
    )


def _positions(project: Project, solution_id: int) -> list[dict[int, int]]:
    """For each position the alternative of each completion, by its id."""
    positions: list[dict[int, int]] = []
    for pk, position, alternative in fetch_all(STEPS, {"solution": solution_id, "project": project.pk}):
        while len(positions) <= position:  # a position that came without any completion stays empty
            positions.append({})
        positions[position][pk] = alternative
    if not positions and not Solution.objects.filter(project=project, pk=solution_id).exists():
        raise Missing(
            "solution_not_found",
            _("There is no solution %(solution_id)s in %(name)s.") % {"solution_id": solution_id, "name": project.name},
        )
    return positions


def _critiques(solution_id: int, scheme: LabelScheme) -> dict[int, int]:
    """How many critiques came with a step, by its id; nothing is looked up where the project does not ask for them."""
    return dict(fetch_all(CRITIQUES, {"solution": solution_id})) if scheme.critique == "given" else {}
