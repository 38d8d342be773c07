"""The vocabulary that files, the library and the platform share.

A vocabulary is a type, and the tuple of its words in their order. This module imports nothing, so everything may.
"""

from typing import Literal, get_args

Split = Literal["pool", "calibration", "holdout"]
StepKind = Literal["reasoning", "plan", "tool_call", "observation", "edit", "answer"]
Rating = Literal[1, 0, -1]
Word = Literal["good", "neutral", "bad", "unsure"]  # on a step, as a person says it
RatingState = Literal["rated", "unsure", "not_reached"]
Finished = Literal["solution", "found_error"]
GivenUp = Literal["give_up", "bad_problem"]  # needs a reason in words
FinishReason = Literal[Finished, GivenUp]
SourceKind = Literal["human", "simulated", "consensus", "model_judge", "monte_carlo", "heuristic"]
OutcomeSource = Literal["given", "grader", "tests"]
Visibility = Literal["raw", "summary", "redacted"]
NeutralPolicy = Literal["positive", "negative", "drop"]  # what a neutral step is where there are only two classes

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
VISIBILITIES: tuple[Visibility, ...] = get_args(Visibility)
NEUTRAL_POLICIES: tuple[NeutralPolicy, ...] = get_args(NeutralPolicy)

# Each form of a rating from the other; an unsure word has no rating.
RATING_OF: dict[Word, Rating] = dict(zip(WORDS, RATINGS, strict=False))
WORD_OF: dict[int | None, Word] = {rating: word for word, rating in RATING_OF.items()} | {None: "unsure"}

# Labels of people, one by one or as their consensus: a format without kinds holds these, and only they make gold.
PEOPLE: frozenset[SourceKind] = frozenset({"human", "consensus"})
# Source kinds that never make gold or measure a model.
MACHINES: frozenset[SourceKind] = frozenset({"model_judge", "monte_carlo", "heuristic"})
TOOL_STEPS: frozenset[StepKind] = frozenset({"tool_call", "observation"})
