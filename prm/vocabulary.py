"""The vocabulary that files, the library and the platform share.

Each vocabulary is a type with the ordered tuple of its words. This module imports nothing, so any module can import it.
"""

from typing import Literal, get_args

Split = Literal["pool", "calibration", "holdout"]
StepKind = Literal["reasoning", "plan", "tool_call", "observation", "edit", "answer"]
Rating = Literal[1, 0, -1]
Word = Literal["good", "neutral", "bad", "unsure"]  # a person's rating of a step, in words
RatingState = Literal["rated", "unsure", "not_reached"]
Finished = Literal["solution", "found_error"]
GivenUp = Literal["give_up", "bad_problem"]  # needs a reason in words
FinishReason = Literal[Finished, GivenUp]
SourceKind = Literal["human", "simulated", "consensus", "model_judge", "monte_carlo", "heuristic"]
OutcomeSource = Literal["given", "grader", "tests"]
Visibility = Literal["raw", "summary", "redacted"]
# Why a label was wanted; the platform explains them in `annotation.models.choices`.
LabelLane = Literal[
    "acquisition", "control", "holdout", "calibration", "overlap", "pinned", "gold", "screening"
]  # fmt: skip
NeutralPolicy = Literal["positive", "negative", "drop"]  # the class of a neutral step if there are only two classes

SPLITS: tuple[Split, ...] = get_args(Split)
STEP_KINDS: tuple[StepKind, ...] = get_args(StepKind)
RATINGS: tuple[Rating, ...] = get_args(Rating)
WORDS: tuple[Word, ...] = get_args(Word)
RATING_STATES: tuple[RatingState, ...] = get_args(RatingState)
FINISHED: tuple[Finished, ...] = get_args(Finished)
GIVEN_UP: tuple[GivenUp, ...] = get_args(GivenUp)
FINISH_REASONS: tuple[FinishReason, ...] = get_args(FinishReason)
SOURCE_KINDS: tuple[SourceKind, ...] = get_args(SourceKind)
OUTCOME_SOURCES: tuple[OutcomeSource, ...] = get_args(OutcomeSource)
LABEL_LANES: tuple[LabelLane, ...] = get_args(LabelLane)
VISIBILITIES: tuple[Visibility, ...] = get_args(Visibility)
NEUTRAL_POLICIES: tuple[NeutralPolicy, ...] = get_args(NeutralPolicy)

NO_ERROR = -1  # in place of the position of a first error

# Conversions between the two forms of a rating; "unsure" has no number.
RATING_OF: dict[Word, Rating] = dict(zip(WORDS, RATINGS, strict=False))
WORD_OF: dict[int | None, Word] = {rating: word for word, rating in RATING_OF.items()} | {None: "unsure"}

# Labels of people, individual or consensus. Files without kinds contain only these, and only these can become gold.
PEOPLE: frozenset[SourceKind] = frozenset({"human", "consensus"})
# Source kinds whose labels never become gold or measure a model.
MACHINES: frozenset[SourceKind] = frozenset({"model_judge", "monte_carlo", "heuristic"})
TOOL_STEPS: frozenset[StepKind] = frozenset({"tool_call", "observation"})
