"""A policy says what the library and the pages know, and is refused when it is written, not when a round ends."""

from typing import get_args

import msgspec
import pytest

from annotation.models import LabelSource, parse_policy
from annotation.models.policy import Acquisition, SourceKind
from labelling_ui.pages.settings import generations, training
from prm.acquisition import FUNCTIONS
from prm.config import NeutralPolicy
from prm.formats.trl import Neutral


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
        {"unheard_of": 1},
    ],
    ids=str,
)
def test_refuses_what_no_round_could_do(policy):
    with pytest.raises(msgspec.ValidationError):
        parse_policy(policy)


def test_names_the_acquisition_functions_of_the_library():
    assert set(get_args(Acquisition)) == set(FUNCTIONS)
    assert {value for value, _ in generations.GenerationsPart.base_fields["acquisition"].choices} == set(FUNCTIONS)


def test_maps_neutral_as_the_library_does():
    assert set(get_args(Neutral)) == set(get_args(NeutralPolicy))


def test_names_the_kinds_of_label_sources():
    assert set(get_args(SourceKind)) == set(LabelSource.Kind)
    assert {value for value, _ in training.TrainingPart.base_fields["training_sources"].choices} == set(
        LabelSource.Kind
    )
