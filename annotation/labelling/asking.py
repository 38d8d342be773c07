"""What a project asks beside the ratings, and whether a submission answers it as it may. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET

from annotation.labelling.payload import Dimensions, GivenPosition, GivenRating, Submission
from annotation.models.scheme import LabelScheme

Fault = tuple[str, str]  # the field, and what is wrong with it
MOST_PROGRESS = 4


def faults_of_dimensions(
    path: Sequence[GivenPosition], scheme: LabelScheme, critiques: Mapping[int, int]
) -> Iterator[Fault]:
    """Where a step is said what the project does not ask of it; `critiques` counts the given ones by the step's id."""
    behind_error = False
    for index, place in enumerate(path):
        for number, given in enumerate(place.ratings):
            if given.dimensions is not UNSET:
                said = given.dimensions
                field = f"path[{index}].ratings[{number}].dimensions"
                if given.state == "not_reached" and said != Dimensions():
                    yield field, "Nothing is said of a step that is not reached."
                yield from _of_any_step(field, said, place.position, scheme)
                yield from _of_recovery(field, said, behind_error, scheme)
                yield from _of_critiques(field, said, given, scheme, critiques)
        behind_error = behind_error or any(given.rating == -1 for given in place.ratings)


def faults_of_progress(submission: Submission, error: int | None, scheme: LabelScheme) -> Iterator[Fault]:
    """Where it is said how far a solution got, and may not; `error` is its first one (a position, -1 for none)."""
    if submission.progress is UNSET:
        return
    if not scheme.ask_progress:
        yield "progress", "This project does not ask how far a solution got."
    if error is None or error < 0:
        yield "progress", "How far a solution got is said where an error is found in it."
    if not 0 <= submission.progress <= MOST_PROGRESS:
        yield "progress", f"How far it got is a number from 0 (nowhere) to {MOST_PROGRESS} (all but the end)."


def missing_at_error(submission: Submission, error: int | None, scheme: LabelScheme) -> Iterator[Fault]:
    """What the project asks after the first error, and is not said."""
    if submission.finish_reason != "found_error" or error is None:
        return
    if scheme.ask_progress and submission.progress is UNSET:
        yield "progress", f"Say how far the solution had got when it went wrong, from 0 to {MOST_PROGRESS}."
    if scheme.critique != "none":
        yield from _of_missing_critique(submission.path[error], scheme)


def _of_any_step(field: str, said: Dimensions, position: int, scheme: LabelScheme) -> Iterator[Fault]:
    known = scheme.clause_names
    for index, clause in enumerate(said.clauses):
        if clause not in known:
            listed = ", ".join(known) or "none"
            yield f"{field}.clauses[{index}]", f"'{clause}' is not a clause of this project's policy ({listed})."
        if clause in said.clauses[:index]:
            yield f"{field}.clauses[{index}]", f"The clause '{clause}' is named twice."
    if said.redundant and not scheme.redundancy:
        yield f"{field}.redundant", "This project does not ask whether a step is redundant."
    if said.consistent is None and said.consistent_with is None:
        return
    if not scheme.consistency:
        yield f"{field}.consistent", "This project does not ask whether a step is consistent with earlier ones."
    if said.consistent is None:
        yield f"{field}.consistent", "Say whether the step is consistent with the one that is pointed at."
    if said.consistent is False and said.consistent_with is None:
        yield f"{field}.consistent_with", "Point at the earlier step that this one contradicts."
    if said.consistent_with is not None and not 0 <= said.consistent_with < position:
        yield f"{field}.consistent_with", f"The step pointed at comes before this one: a position below {position}."


def _of_recovery(field: str, said: Dimensions, behind_error: bool, scheme: LabelScheme) -> Iterator[Fault]:
    if said.recovers and not scheme.recovery:
        yield f"{field}.recovers", "This project does not ask whether a step recovers from an error."
    elif said.recovers and not behind_error:
        yield f"{field}.recovers", "No step before this one is rated -1: there is no error to recover from."


def _of_critiques(
    field: str, said: Dimensions, given: GivenRating, scheme: LabelScheme, critiques: Mapping[int, int]
) -> Iterator[Fault]:
    if (said.critique or said.critique_ratings) and given.rating != -1:
        yield f"{field}.critique", "A critique says what is wrong: only a step rated -1 has one."
    if said.critique and scheme.critique == "none":
        yield f"{field}.critique", "This project asks for no critique."
    if said.critique_ratings and scheme.critique != "given":
        yield f"{field}.critique_ratings", "This project does not ask to rate critiques."
    count = critiques.get(given.step, 0)
    if len(said.critique_ratings) > count:
        yield f"{field}.critique_ratings", f"{len(said.critique_ratings)} ratings for {count} given critiques."


def _of_missing_critique(place: GivenPosition, scheme: LabelScheme) -> Iterator[Fault]:
    """At the first error: one is written, or, where given ones are rated, one of them is good."""
    number, wrong = _wrong_step(place)
    said = wrong.dimensions if wrong.dimensions is not UNSET else Dimensions()
    if said.critique.strip() or 1 in said.critique_ratings:
        return
    need = "none of those given is good: write one" if scheme.critique == "given" else "this project asks for it"
    yield f"path[{place.position}].ratings[{number}].dimensions.critique", f"Say what is wrong with this step; {need}."


def _wrong_step(place: GivenPosition) -> tuple[int, GivenRating]:
    """The rating that makes this position the first error, with its number: what was chosen, else the first -1."""
    wrong = [(number, given) for number, given in enumerate(place.ratings) if given.rating == -1]
    return next((one for one in wrong if one[1].step == place.chosen), wrong[0])
