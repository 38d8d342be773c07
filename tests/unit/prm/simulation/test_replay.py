"""A whole simulation on the world of running sums: the same again, and on from where it was stopped."""

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from prm.__main__ import main
from prm.acquisition import Candidate, Pool
from prm.config import TrainConfig
from prm.errors import DataError
from prm.formats.trace_files import read_traces
from prm.labels import problem_of
from prm.scoring.embedding import Embedder
from prm.simulation.learning import learn
from prm.simulation.plan import FULL, TABLE, Arm, Curve, Plan
from prm.simulation.replay import Choice, Offering, training_config
from prm.simulation.report import Report
from prm.simulation.running import ARMS_FILE, Bench, Source, finished_arms, run_arms
from prm.traces import write_traces
from tests.unit.prm.small_world import make_traces

SMALL = TrainConfig(heads=3, hidden=8, epochs=3, batch_steps=64, features=("statistics",), class_balance="held")
PLAN = Plan(
    worlds=("sums",),
    functions=("random", "balanced_errors"),
    seeds=(0, 1),
    budgets=(10, 20),
    candidates=60,
    config=SMALL,
)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulation")
    traces = [
        *make_traces(60, 1, prefix="a"),
        *make_traces(40, 2, split="calibration", prefix="b"),
        *make_traces(40, 3, split="holdout", prefix="c"),
    ]
    graded = [msgspec.structs.replace(trace, final_answer_correct=trace.first_error == -1) for trace in traces]
    write_traces(folder / "sums.jsonl", graded)
    return Source(PLAN, folder / "cache", folder / "sums.jsonl")


@pytest.mark.parametrize("name", [field.name for field in msgspec.structs.fields(TrainConfig)])
@pytest.mark.parametrize("plan", [TABLE, FULL], ids=["table", "full"])
def test_what_is_measured_is_what_ships(plan, name):
    """Every field of a replay's training is the default's; only the seed varies, and the crossed graded weight."""
    measured = [training_config(plan, arm) for arm in plan.arms()]
    default = getattr(TrainConfig(), name)
    values = [getattr(config, name) for config in measured]
    if name == "seed":
        assert set(values) == set(plan.seeds)
    elif name == "graded_weight":
        assert set(values) == {0.0, default}
    else:
        assert values == [default] * len(measured)


@pytest.fixture(scope="module")
def keys(source):
    return {"sums": source.key("sums", source.base_sha256())}


def without_times(curve: Curve) -> list:
    return [msgspec.structs.replace(point, train_seconds=0.0) for point in curve.points]


def test_an_arm_repeats_itself_and_begins_as_the_others_of_its_seed(source):
    arm = Arm("sums", 0.2, "balanced_errors", 0.3, 1)
    first, again = Bench(source).replay(arm), Bench(source).replay(arm)
    assert without_times(first) == without_times(again)
    other = Bench(source).replay(arm._replace(function="random"))
    assert without_times(other)[0] == without_times(first)[0]
    assert without_times(other)[1] != without_times(first)[1]


def test_another_chooser_takes_the_place_of_the_platforms(source):
    seen: list[tuple[str, int, int]] = []

    def take_the_first(choice: Choice) -> list[int]:
        seen.append((choice.function, len(choice.left), choice.budget))
        return choice.left[: choice.budget]

    arm = Arm("sums", 0.0, "balanced_errors", 0.0, 1)
    other, ours = Bench(source, take_the_first).replay(arm), Bench(source).replay(arm)
    assert seen == [("balanced_errors", 50, 10)]
    assert without_times(other)[0] == without_times(ours)[0]
    assert without_times(other)[1] != without_times(ours)[1]


def test_what_is_offered_is_what_candidates_of_these_solutions_would_be(source):
    features = source.features("sums")
    part, places = features.pool, [7, 3, 40, 12]
    model = learn([part.traces[place] for place in range(20)], list(range(20)), features, SMALL)
    pool = Offering.of(part).scored(places, model)
    expected = Pool.of(
        [
            Candidate(
                id=str(place),
                problem_id=problem_of(part.traces[place]),
                domain=part.traces[place].domain,
                heads=model.heads(part.rows[part.offsets[place] : part.offsets[place + 1]]).tolist(),
                step_chars=[len(step.text) for step in part.traces[place].steps],
                final_answer_correct=part.traces[place].final_answer_correct,
                embedding=Embedder(model.readout).embed(part.rows[part.offsets[place] : part.offsets[place + 1]]),
            )
            for place in places
        ]
    )
    for column in ("problem", "domain", "steps", "chars", "correct"):
        assert getattr(pool, column).tolist() == getattr(expected, column).tolist(), column
    np.testing.assert_allclose(pool.p, expected.p, atol=1e-6)
    np.testing.assert_allclose(pool.embedding, expected.embedding, atol=1e-6)


def test_a_stopped_simulation_goes_on_from_the_arms_it_finished(source, keys, tmp_path):
    heard: list[Arm] = []

    def stop_at_two(curve, done, of):
        heard.append(curve.arm)
        if len(heard) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_arms(source, keys, tmp_path, processes=1, on_arm=stop_at_two)
    assert [curve.arm for curve in finished_arms(source, keys, tmp_path)] == heard
    rest: list[Arm] = []
    curves = run_arms(source, keys, tmp_path, processes=1, on_arm=lambda curve, done, of: rest.append(curve.arm))
    assert [curve.arm for curve in curves] == list(PLAN.arms())
    assert not set(rest) & set(heard)
    assert finished_arms(source, {"sums": "other"}, tmp_path) == []


def test_the_command_writes_table_picture_and_json(source, tmp_path, capsys):
    config = tmp_path / "config.json"
    config.write_bytes(msgspec.json.encode(SMALL))
    command = ["simulate", "--data", str(source.data), "--config", str(config), "--cache", str(source.cache)]
    command += ["--functions", "random,balanced_errors", "--graded", "0,0.5"]
    command += ["--budgets", "10,20", "--candidates", "60"]
    command += ["--seeds", "2", "--processes", "1", "--bootstrap", "20", "--out", str(tmp_path)]
    assert main(command) == 0
    report = msgspec.json.decode((tmp_path / "report.json").read_bytes(), type=Report)
    assert report.arms == 8
    crossed = [(name, graded) for name in ("random", "balanced_errors") for graded in (0.0, 0.5)]
    assert [(one.function, one.graded) for one in report.comparisons] == crossed
    assert [one.better is None for one in report.comparisons] == [True, False, False, False]
    plain, at_equal_signal = report.comparisons[2:]
    assert plain.choosing == plain.saving["solutions"]
    assert at_equal_signal.choosing not in (None, at_equal_signal.saving["solutions"])
    assert [one.choosing for one in report.comparisons[:2]] == [None, None]
    assert (tmp_path / "curves.svg").read_text().startswith("<?xml")
    out = capsys.readouterr().out
    assert "| balanced_errors | 2 |" in out
    assert "| random + graded 0.5 | 2 |" in out
    before = (tmp_path / ARMS_FILE).read_bytes()
    assert main([*command, "--report-only"]) == 0
    assert (tmp_path / ARMS_FILE).read_bytes() == before


def test_solutions_without_labels_teach_by_their_grade_and_are_never_read(source, tmp_path):
    traces = list(read_traces(source.data))
    extra = [
        msgspec.structs.replace(trace, labels=None, first_error=None, final_answer_correct=trace.first_error == -1)
        for trace in make_traces(8, 4, prefix="d")
    ]
    ungraded = msgspec.structs.replace(extra[0], id="e", final_answer_correct=None)
    held = msgspec.structs.replace(extra[1], id="f", split="holdout")
    write_traces(tmp_path / "sums.jsonl", [*traces, *extra, ungraded, held])
    more = replace(source, data=tmp_path / "sums.jsonl")
    assert [trace.id for trace in more.world("sums").pool[60:]] == [trace.id for trace in extra]
    plain, graded = (Arm("sums", 0.2, "random", weight, 1) for weight in (0.0, 0.5))
    assert without_times(Bench(more).replay(plain)) == without_times(Bench(source).replay(plain))
    assert without_times(Bench(more).replay(graded)) != without_times(Bench(source).replay(graded))


def test_a_pool_without_wrong_answers_is_replayed_without_graded_answers(source, tmp_path, capsys):
    """Every arm was trained twice, with the same result."""
    traces = [msgspec.structs.replace(trace, final_answer_correct=True) for trace in read_traces(source.data)]
    write_traces(tmp_path / "right.jsonl", traces)
    command = ["simulate", "--data", str(tmp_path / "right.jsonl"), "--candidates", "60", "--budgets", "10,20"]
    assert main([*command, "--graded", "0,1", "--out", str(tmp_path), "--report-only"]) == 0
    assert msgspec.json.decode((tmp_path / "report.json").read_bytes(), type=Report).plan.graded == (0.0,)
    assert "graded answers are left out" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"functions": ("entropy",)}, "compares with random"),
        ({"graded": (0.5,)}, "add 0 to the weights"),
        ({"functions": ("random", "guess")}, "There is no acquisition function 'guess'"),
        ({"budgets": (20, 10)}, "budgets in increasing order"),
        ({"noises": (0.5,)}, "below 0.5"),
        ({"candidates": 15}, "not enough to label 20"),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(change, words):
    fields = {name: getattr(PLAN, name) for name in PLAN.__struct_fields__}
    with pytest.raises(DataError, match=words):
        Plan(**(fields | change))


def test_data_with_too_few_of_a_kind_is_refused(tmp_path):
    path = Path(tmp_path / "few.jsonl")
    write_traces(path, make_traces(20, 1))
    with pytest.raises(DataError, match="a simulation needs 10 of each"):
        Source(PLAN, tmp_path, path).world("few")
