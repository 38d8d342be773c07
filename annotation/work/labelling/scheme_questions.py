"""Checks the answers to what a label scheme asks besides the ratings. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET

from annotation.models.scheme import LabelScheme
from annotation.work.labelling.payload import Dimensions, GivenPosition, GivenRating, Submission
from prm.messages import Message

Fault = tuple[str, Message]  # a field, and what is wrong with it
MOST_PROGRESS = 4


def faults_of_dimensions(
    path: Sequence[GivenPosition], scheme: LabelScheme, critiques: Mapping[int, int]
) -> Iterator[Fault]:
    """The faults in answers about single steps; `critiques` counts the imported critiques of each step, by its id."""
    behind_error = False
    for index, place in enumerate(path):
        for number, rating in enumerate(place.ratings):
            if rating.dimensions is not UNSET:
                answers = rating.dimensions
                field = f"path[{index}].ratings[{number}].dimensions"
                if rating.state == "not_reached" and answers != Dimensions():
                    yield field, Message("step_not_reached")
                yield from _of_any_step(field, answers, place.position, scheme)
                yield from _of_recovery(field, answers, behind_error, scheme)
                yield from _of_critiques(field, answers, rating, scheme, critiques)
        behind_error = behind_error or any(rating.rating == -1 for rating in place.ratings)


def faults_of_progress(submission: Submission, error: int | None, scheme: LabelScheme) -> Iterator[Fault]:
    """The faults in the answer on progress; `error` is the first error: a position, -1 for none."""
    if submission.progress is UNSET:
        return
    if not scheme.ask_progress:
        yield "progress", Message("progress_not_asked")
    if error is None or error < 0:
        yield "progress", Message("progress_without_error")
    if not 0 <= submission.progress <= MOST_PROGRESS:
        yield "progress", Message("progress_out_of_range", most=MOST_PROGRESS)


def missing_at_error(submission: Submission, error: int | None, scheme: LabelScheme) -> Iterator[Fault]:
    """Required answers that are missing after the first error."""
    if submission.finish_reason != "found_error" or error is None:
        return
    if scheme.ask_progress and submission.progress is UNSET:
        yield "progress", Message("progress_needed", most=MOST_PROGRESS)
    if scheme.critique != "none":
        yield from _of_missing_critique(submission.path[error], scheme)


def _of_any_step(field: str, answers: Dimensions, position: int, scheme: LabelScheme) -> Iterator[Fault]:
    known = scheme.clause_names
    for index, clause in enumerate(answers.clauses):
        if clause not in known:
            yield (
                f"{field}.clauses[{index}]",
                Message("unknown_clause", clause=clause, known=", ".join(known) or Message("none")),
            )
        if clause in answers.clauses[:index]:
            yield f"{field}.clauses[{index}]", Message("clause_repeated", clause=clause)
    if answers.redundant and not scheme.redundancy:
        yield f"{field}.redundant", Message("redundancy_not_asked")
    if answers.consistent is None and answers.consistent_with is None:
        return
    if not scheme.consistency:
        yield f"{field}.consistent", Message("consistency_not_asked")
    if answers.consistent is None:
        yield f"{field}.consistent", Message("consistency_needed")
    if answers.consistent is False and answers.consistent_with is None:
        yield f"{field}.consistent_with", Message("contradicted_step_needed")
    if answers.consistent_with is not None and not 0 <= answers.consistent_with < position:
        yield f"{field}.consistent_with", Message("contradicted_step_not_earlier", position=position)


def _of_recovery(field: str, answers: Dimensions, behind_error: bool, scheme: LabelScheme) -> Iterator[Fault]:
    if answers.recovers and not scheme.recovery:
        yield f"{field}.recovers", Message("recovery_not_asked")
    elif answers.recovers and not behind_error:
        yield f"{field}.recovers", Message("nothing_to_recover_from")


def _of_critiques(
    field: str, answers: Dimensions, rating: GivenRating, scheme: LabelScheme, critiques: Mapping[int, int]
) -> Iterator[Fault]:
    if (answers.critique or answers.critique_ratings) and rating.rating != -1:
        yield f"{field}.critique", Message("critique_of_good_step")
    if answers.critique and scheme.critique == "none":
        yield f"{field}.critique", Message("critique_not_asked")
    if answers.critique_ratings and scheme.critique != "given":
        yield f"{field}.critique_ratings", Message("critique_ratings_not_asked")
    count = critiques.get(rating.step, 0)
    if len(answers.critique_ratings) > count:
        yield (
            f"{field}.critique_ratings",
            Message(
                "critique_ratings_differ",
                ratings=Message("n_ratings", n=len(answers.critique_ratings)),
                critiques=Message("n_given_critiques", n=count),
            ),
        )


def _of_missing_critique(place: GivenPosition, scheme: LabelScheme) -> Iterator[Fault]:
    """The fault if the wrong step has no critique: neither a written one, nor an imported one that is rated good."""
    number, wrong = _wrong_step(place)
    answers = wrong.dimensions if wrong.dimensions is not UNSET else Dimensions()
    if answers.critique.strip() or 1 in answers.critique_ratings:
        return
    need = Message("critique_choice_needed") if scheme.critique == "given" else Message("critique_needed")
    yield f"path[{place.position}].ratings[{number}].dimensions.critique", need


def _wrong_step(place: GivenPosition) -> tuple[int, GivenRating]:
    """The rating that makes this position the first error, and its index: the chosen one, else the first -1."""
    wrong = [(number, rating) for number, rating in enumerate(place.ratings) if rating.rating == -1]
    return next((numbered for numbered in wrong if numbered[1].step == place.chosen), wrong[0])
