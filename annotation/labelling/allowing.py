"""Whether a submission may stand on its solution, as that is stored and as the project asks of it."""

import msgspec
from django.utils.translation import gettext as _
from msgspec import UNSET

from annotation.errors import Missing
from annotation.labelling.checking import check
from annotation.labelling.hints import check_seen
from annotation.labelling.payload import Submission
from annotation.labelling.spans import check_spans
from annotation.models import LabelScheme, Project, Solution
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


def allow(submission: Submission, project: Project, *, ratings_do: bool = False) -> int | None:
    """The first error of a submission that may: a position, -1 for none, None where it is not known.

    With `ratings_do` it need not say what the project asks beside the ratings. Raises Missing (`solution_not_found`),
    DomainError (`invalid_submission`, with the place in `extra.field`).
    """
    scheme = _as_far_as_told(submission, project.label_scheme) if ratings_do else project.label_scheme
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
