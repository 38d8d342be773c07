"""What a project may choose for its training runs, and how a wrong choice is told."""

import msgspec
import pytest

from annotation.core.errors import DomainError
from annotation.loop.gateway.training import check_training, training_config
from annotation.models import parse_policy
from prm.acquisition import Caps
from prm.config import TrainConfig
from prm.simulation.plan import FULL, TABLE, Plan


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        ({"epoch": 3}, "unknown field `epoch`"),
        ({"epochs": "many"}, "`epochs`: Expected a whole number, got a text"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"lane": "all"}, "`lane`: Expected one of full, heads, lora, got 'all'"),
        ({"base": "tiny"}, "`base` is set in the policy as `backbone`"),
        ({"neutral": "drop"}, "`neutral` is set in the policy as `neutral`"),
        ({"shard": True}, '`shard` requires `lane` "full"'),
    ],
)
def test_a_choice_that_the_library_does_not_take_is_named(choices, reason):
    with pytest.raises(DomainError) as refused:
        check_training(choices)
    assert refused.value.code == "invalid_policy"
    assert refused.value.extra == {"field": "training"}
    assert refused.value.message.startswith("The training choices are invalid: ")
    assert reason in refused.value.message


def test_choices_reach_the_trainer_beside_those_of_the_policy(settings):
    settings.BACKBONES = ["some/model"]
    check_training({"lane": "lora", "epochs": 3, "processes": "auto"})
    policy = parse_policy({"backbone": "some/model", "neutral": "drop", "training": {"lane": "lora", "epochs": 3}})
    found = training_config(policy, seed=5)
    assert found == {"seed": 5, "lane": "lora", "epochs": 3, "base": "some/model", "neutral": "drop"}
    assert training_config(parse_policy({"training": {"seed": 8}}), seed=5)["seed"] == 8


@pytest.mark.parametrize("plan", [TABLE, FULL, Plan(worlds=("sandbox",), functions=("random",))])
def test_what_ships_is_what_the_simulation_measures(plan):
    """Field by field, for projects that choose nothing and for `prm train` without a configuration; seeds are drawn."""
    policy = parse_policy({})
    shipped = msgspec.convert(training_config(policy, seed=plan.config.seed), TrainConfig)
    assert msgspec.to_builtins(shipped) == msgspec.to_builtins(plan.config)
    assert shipped == TrainConfig()
    # Without a cap a project takes one solution of a problem, and more only as the budget needs it.
    assert plan.caps == Caps(policy.caps.problem or 1, policy.caps.domain)
    assert policy.acquisition in TABLE.functions
