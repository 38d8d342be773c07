"""The arms of the live comparison: equal time, one start, nothing of the other lane."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from annotation.loop.proof.arms import Unit, arm, in_start, match, units_of
from prm.formats.identity import solution_key
from prm.formats.record import PathPosition, Rating, Record, RecordAnnotation


def label(lane, generation, seconds=10, **fields):
    return RecordAnnotation(
        source_kind="human",
        finish_reason="solution",
        path=[PathPosition(0, chosen=0, ratings=[Rating(0, "rated", 1)])],
        lane=lane,
        generation=generation,
        total_ms=None if seconds is None else int(1000 * seconds),
        **fields,
    )


def record(solution, *annotations, split="pool"):
    return Record(f"{solution} + 1?", [], external_id=str(solution), split=split, annotations=list(annotations))


def key(solution):
    return solution_key(record(solution))


def units(*described):
    return [Unit(generation, str(n), lane, seconds) for n, (generation, lane, seconds) in enumerate(described)]


def test_a_unit_is_a_solution_as_a_generation_had_it_labelled():
    records = [
        record(1, label("control", 0), label("acquisition", 2, 20), label("acquisition", 2, 15)),
        record(2, label("control", 1, 5000), label("overlap", 1, 9)),
        record(3, label("acquisition", 1, None), label("control", 1, 30, adjudicates=True)),
    ]
    assert list(units_of(records)) == [Unit(2, key(1), "acquisition", 35.0), Unit(1, key(2), "control", 600.0)]


def test_the_larger_lane_gives_as_many_seconds_as_the_smaller_within_each_generation():
    many = [(1, "acquisition", 10.0)] * 30 + [(1, "control", 20.0)] * 5 + [(2, "acquisition", 10.0)] * 3
    found = match(units(*many, (2, "control", 60.0)), np.random.default_rng(0))
    assert found.seconds == {"acquisition": 130.0, "control": 100.0}, "a label of 60 s is more than generation 2 has"
    assert {len(keys) for keys in found.chosen.values()} == {13, 5}
    assert (found.generation, found.fewest) == (2, 5)


@given(
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["acquisition", "control"]), st.floats(1, 600)), max_size=40),
    st.integers(0, 5),
)
def test_both_arms_take_the_same_time_to_within_a_label_a_generation(described, seed):
    given_units = units(*described)
    found = match(given_units, np.random.default_rng(seed))
    apart = abs(found.seconds["acquisition"] - found.seconds["control"])
    assert apart <= 3 * max((unit.seconds for unit in given_units), default=0)
    for generation in (1, 2, 3):
        here = {lane: [k for k in keys if k[0] == generation] for lane, keys in found.chosen.items()}
        if not any(u.generation == generation and u.lane == "control" for u in given_units):
            assert here == {"acquisition": [], "control": []}, "nothing to match it with"


def test_the_same_seed_matches_the_same_labels():
    described = units(*[(1, "acquisition", 10.0 + n) for n in range(20)], *[(1, "control", 30.0)] * 3)
    first, second = (match(list(reversed(described)), np.random.default_rng(4)) for _ in range(2))
    assert first == second == match(described, np.random.default_rng(4))


def test_an_arm_holds_the_start_and_the_chosen_labels_of_its_lane_alone():
    records = [
        record(1, label("control", 0), label("acquisition", 1), label("overlap", 1)),
        record(2, label("acquisition", 1)),
        record(3, label("control", 1)),
        record(4, label("", None)),
        record(5, label("calibration", 3), split="calibration"),
        record(6, label("acquisition", 1, adjudicates=True)),
    ]
    chosen = frozenset({(1, key(1)), (1, key(2)), (1, key(6))})

    def lanes(arm_of):
        return {r.external_id: [a.lane for a in r.annotations] for r in arm_of}

    acquisition = lanes(arm(records, "acquisition", chosen))
    assert acquisition == {"1": ["control", "acquisition"], "2": ["acquisition"], "4": [""], "5": ["calibration"]}
    control = lanes(arm(records, "control", frozenset({(1, key(3))})))
    assert control == {"1": ["control"], "3": ["control"], "4": [""], "5": ["calibration"]}


def test_the_consensus_of_an_arm_is_of_its_own_labels():
    both = record(1, label("control", 0), label("acquisition", 1))
    [kept] = arm([both], "control", frozenset())
    assert [one.votes for one in kept.consensus] == [1]
    assert in_start(both, both.annotations[0])
    assert not in_start(both, both.annotations[1])
