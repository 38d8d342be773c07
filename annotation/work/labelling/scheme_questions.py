"""The questions that a label scheme asks beside the ratings, and checks of their answers. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET

from annotation.core.wording import Said, counted, said
from annotation.models.scheme import LabelScheme
from annotation.work.labelling.payload import Dimensions, GivenPosition, GivenRating, Submission

Fault = tuple[str, Said]  # the field, and what is wrong with it
MOST_PROGRESS = 4


def faults_of_dimensions(
    path: Sequence[GivenPosition], scheme: LabelScheme, critiques: Mapping[int, int]
) -> Iterator[Fault]:
    """Where a step is said what the project does not ask of it; `critiques` counts the given ones by the step's id."""
    behind_error = False
    for index, place in enumerate(path):
        for number, rating in enumerate(place.ratings):
            if rating.dimensions is not UNSET:
                beside = rating.dimensions
                field = f"path[{index}].ratings[{number}].dimensions"
                if rating.state == "not_reached" and beside != Dimensions():
                    yield field, said("Nothing is said of a step that is not reached.")
                yield from _of_any_step(field, beside, place.position, scheme)
                yield from _of_recovery(field, beside, behind_error, scheme)
                yield from _of_critiques(field, beside, rating, scheme, critiques)
        behind_error = behind_error or any(rating.rating == -1 for rating in place.ratings)


def faults_of_progress(submission: Submission, error: int | None, scheme: LabelScheme) -> Iterator[Fault]:
    """Where it is said how far a solution got, and may not; `error` is its first one (a position, -1 for none)."""
    if submission.progress is UNSET:
        return
    if not scheme.ask_progress:
        yield "progress", said("This project does not ask how far a solution got.")
    if error is None or error < 0:
        yield "progress", said("How far a solution got is said where an error is found in it.")
    if not 0 <= submission.progress <= MOST_PROGRESS:
        yield (
            "progress",
            said("How far it got is a number from 0 (nowhere) to {most} (all but the end).", most=MOST_PROGRESS),
        )


def missing_at_error(submission: Submission, error: int | None, scheme: LabelScheme) -> Iterator[Fault]:
    """Required answers that are missing after the first error."""
    if submission.finish_reason != "found_error" or error is None:
        return
    if scheme.ask_progress and submission.progress is UNSET:
        yield (
            "progress",
            said("Say how far the solution had got when it went wrong, from 0 to {most}.", most=MOST_PROGRESS),
        )
    if scheme.critique != "none":
        yield from _of_missing_critique(submission.path[error], scheme)


def _of_any_step(field: str, beside: Dimensions, position: int, scheme: LabelScheme) -> Iterator[Fault]:
    known = scheme.clause_names
    for index, clause in enumerate(beside.clauses):
        if clause not in known:
            yield (
                f"{field}.clauses[{index}]",
                said(
                    "'{clause}' is not a clause of this project's policy ({known}).",
                    clause=clause,
                    known=", ".join(known) or said("none"),
                ),
            )
        if clause in beside.clauses[:index]:
            yield f"{field}.clauses[{index}]", said("The clause '{clause}' is named twice.", clause=clause)
    if beside.redundant and not scheme.redundancy:
        yield f"{field}.redundant", said("This project does not ask whether a step is redundant.")
    if beside.consistent is None and beside.consistent_with is None:
        return
    if not scheme.consistency:
        yield f"{field}.consistent", said("This project does not ask whether a step is consistent with earlier ones.")
    if beside.consistent is None:
        yield f"{field}.consistent", said("Say whether the step is consistent with the one that is pointed at.")
    if beside.consistent is False and beside.consistent_with is None:
        yield f"{field}.consistent_with", said("Point at the earlier step that this one contradicts.")
    if beside.consistent_with is not None and not 0 <= beside.consistent_with < position:
        yield (
            f"{field}.consistent_with",
            said("The step pointed at comes before this one: a position below {position}.", position=position),
        )


def _of_recovery(field: str, beside: Dimensions, behind_error: bool, scheme: LabelScheme) -> Iterator[Fault]:
    if beside.recovers and not scheme.recovery:
        yield f"{field}.recovers", said("This project does not ask whether a step recovers from an error.")
    elif beside.recovers and not behind_error:
        yield f"{field}.recovers", said("No step before this one is rated -1: there is no error to recover from.")


def _of_critiques(
    field: str, beside: Dimensions, rating: GivenRating, scheme: LabelScheme, critiques: Mapping[int, int]
) -> Iterator[Fault]:
    if (beside.critique or beside.critique_ratings) and rating.rating != -1:
        yield f"{field}.critique", said("A critique says what is wrong: only a step rated -1 has one.")
    if beside.critique and scheme.critique == "none":
        yield f"{field}.critique", said("This project asks for no critique.")
    if beside.critique_ratings and scheme.critique != "given":
        yield f"{field}.critique_ratings", said("This project does not ask to rate critiques.")
    count = critiques.get(rating.step, 0)
    if len(beside.critique_ratings) > count:
        yield (
            f"{field}.critique_ratings",
            said(
                "{ratings} for {critiques}.",
                ratings=counted("{n} rating", "{n} ratings", n=len(beside.critique_ratings)),
                critiques=counted("{n} given critique", "{n} given critiques", n=count),
            ),
        )


def _of_missing_critique(place: GivenPosition, scheme: LabelScheme) -> Iterator[Fault]:
    """At the first error: one is written, or, where given ones are rated, one of them is good."""
    number, wrong = _wrong_step(place)
    beside = wrong.dimensions if wrong.dimensions is not UNSET else Dimensions()
    if beside.critique.strip() or 1 in beside.critique_ratings:
        return
    need = (
        said("Say what is wrong with this step; none of those given is good: write one.")
        if scheme.critique == "given"
        else said("Say what is wrong with this step; this project asks for it.")
    )
    yield f"path[{place.position}].ratings[{number}].dimensions.critique", need


def _wrong_step(place: GivenPosition) -> tuple[int, GivenRating]:
    """The rating that makes this position the first error, with its number: what was chosen, else the first -1."""
    wrong = [(number, rating) for number, rating in enumerate(place.ratings) if rating.rating == -1]
    return next((numbered for numbered in wrong if numbered[1].step == place.chosen), wrong[0])
