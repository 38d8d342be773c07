"""What step scores cost: tokens and arithmetic that can be counted by hand, and paired choices."""

import pytest

from prm.encoding import encode
from prm.errors import DataError
from prm.probes.cost import choices, solutions_to_time, ways_to_score
from prm.scores import TraceScore
from prm.scoring import Scorer
from prm.traces import Step, Trace
from tests.unit.prm.small_world import make_traces


def pool(problem: int, rights: list[bool]) -> list[Trace]:
    return [
        Trace(
            id=f"{problem}-{k}",
            problem=f"problem {problem}",
            problem_id=str(problem),
            steps=[Step(f"The answer is {int(right)}.")],
            final_answer_correct=right,
        )
        for k, right in enumerate(rights)
    ]


def scored(trace: Trace, p: float, outcome: float | None = None) -> TraceScore:
    return TraceScore(trace.id, [[p]], [p], [None], p, outcome=outcome)


def test_one_pass_reads_each_token_once_and_every_prefix_reads_it_again():
    scorer = Scorer.for_base("tiny", device="cpu")
    traces = make_traces(6, seed=2)
    encoded = encode(traces, scorer.backbone.tokenizer, scorer.backbone.layout, scorer.backbone.context)
    whole, ends, prefixes = ways_to_score(scorer, traces, repeats=1)
    assert whole.tokens == ends.tokens == sum(len(item.ids) for item in encoded) / 6
    assert prefixes.tokens == sum(end for item in encoded for _, end in item.spans) / 6
    assert whole.scores == prefixes.scores == sum(len(trace.steps) for trace in traces) / 6
    assert ends.scores == 1
    assert whole.flops == ends.flops < prefixes.flops
    assert min(way.seconds for way in (whole, ends, prefixes)) > 0


def test_only_solutions_that_fit_the_context_are_timed():
    scorer = Scorer.for_base("tiny", device="cpu")
    long = Trace(id="long", problem="?", steps=[Step("word " * 3000)])
    short = make_traces(3, seed=2)
    assert solutions_to_time(scorer, [long, *short], 2) == short[:2]
    for none in ([], [long], [Trace(id="empty", problem="?", steps=[])]):
        with pytest.raises(DataError, match="fits the context"):
            solutions_to_time(scorer, none, 2)


def test_choices_are_compared_problem_by_problem():
    traces = pool(1, [True, False]) + pool(2, [False, True])
    process = [scored(trace, 0.9 if trace.final_answer_correct else 0.1) for trace in traces]
    outcome = [scored(trace, 0.5, 0.1 if trace.final_answer_correct else 0.9) for trace in traces]
    one, two = choices(traces, process, outcome, bootstrap=20)
    assert (one.process.value, one.outcome.value, one.gain.value) == (0.5, 0.5, 0)
    assert (two.process.value, two.outcome.value, two.gain.value, two.gain.low) == (1, 0, 1, 1)


def test_a_solution_that_was_not_scored_whole_is_not_chosen():
    traces = pool(1, [True, False])
    whole, cut = scored(traces[0], 0.5, 0.9), TraceScore(traces[1].id, [[0.9], None], [0.9, None], [None] * 2, 0.9)
    cut.outcome = 0.1
    assert choices(traces, [whole, cut], [whole, cut], bootstrap=5)[1].process.value == 1


def test_a_model_without_an_outcome_part_chooses_nothing():
    traces = pool(1, [True, False])
    scores = [scored(trace, 0.5) for trace in traces]
    with pytest.raises(DataError, match="outcome weight"):
        choices(traces, scores, scores, bootstrap=5)
