"""A policy says what the library and the pages know, and is refused when it is written, not when a round ends."""

import msgspec
import pytest

from annotation.models import choices, parse_policy
from labelling_ui.pages.settings import learning, work
from prm import vocabulary
from prm.acquisition import FUNCTIONS


@pytest.mark.parametrize(
    "policy",
    [
        {"acquisition": "astrology"},
        {"neutral": "maybe"},
        {"training_sources": ["hearsay"]},
        {"training_sources": []},
        {"mix": {"holdout": 1.5}},
        {"queue": {"lease_minutes": 0}},
        {"queue": {"lease_minutes": 1, "heartbeat_seconds": 60}},
        {"queue": {"problem_again": "tomorrow"}},
        {"queue": {"cool_down_minutes": 10**10}},
        {"rounds": {"keep_days": 10**6}},
        {"serving": {"log_days": 10**6}},
        {"costs": {"hour": -1}},
        {"costs": {"currency": "euro"}},
        {"unheard_of": 1},
    ],
    ids=str,
)
def test_refuses_what_no_round_could_do(policy):
    with pytest.raises(msgspec.ValidationError):
        parse_policy(policy)


def test_names_the_acquisition_functions_of_the_library():
    assert {value for value, _ in work.GenerationsPart.base_fields["acquisition"].choices} == set(FUNCTIONS)


@pytest.mark.parametrize(
    ("offered", "words"),
    [
        (choices.SPLITS, vocabulary.SPLITS),
        (choices.STEP_KINDS, vocabulary.STEP_KINDS),
        (choices.RATING_STATES, vocabulary.RATING_STATES),
        (choices.FINISH_REASONS, vocabulary.FINISH_REASONS),
        (choices.SOURCE_KINDS, vocabulary.SOURCE_KINDS),
        (choices.OUTCOME_SOURCES, vocabulary.OUTCOME_SOURCES),
        (choices.VISIBILITIES, vocabulary.VISIBILITIES),
    ],
)
def test_every_word_of_a_vocabulary_is_a_choice(offered, words):
    assert tuple(word for word, _ in offered) == words


def test_every_kind_of_label_source_may_train():
    offered = learning.TrainingPart.base_fields["training_sources"].choices
    assert {value for value, _ in offered} == set(vocabulary.SOURCE_KINDS)
