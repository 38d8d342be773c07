"""Scoring streams: in order, a few hundred read ahead, memory flat, and it says how fast it goes."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import torch

from prm.__main__ import main
from prm.errors import ScoringError
from prm.scores import Throughput, read_scores
from prm.scoring import Scorer
from prm.scoring.scorer import CHUNK
from prm.traces import Step, Trace, write_traces
from tests.unit.prm.scoring.judging import assert_same, make_scorer


@pytest.fixture
def scorer(backbone_folders: dict[str, Path]) -> Scorer:
    scorer = make_scorer(backbone_folders["llama"])
    scorer.local.token_budget = 8192
    return scorer


def test_traces_are_read_as_they_are_needed_and_let_go(scorer: Scorer) -> None:
    alive, most, drawn = 0, 0, 0

    class Counted(Trace):
        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def source() -> Iterator[Trace]:
        nonlocal alive, most, drawn
        for number in range(4 * CHUNK):
            alive, drawn = alive + 1, drawn + 1
            most = max(most, alive)
            yield Counted(str(number), "Add.", [Step("x")])

    scores = scorer.score(source())
    assert drawn == 0
    assert next(scores).id == "0"
    assert drawn == CHUNK
    assert [score.id for score in scores] == [str(number) for number in range(1, 4 * CHUNK)]
    assert most <= 2 * CHUNK


def test_progress_tells_totals_and_may_stop_the_work(scorer: Scorer) -> None:
    heard: list[Throughput] = []
    traces = [Trace(str(k), "Add.", [Step("x"), Step("y" * 600 * (k == 3))]) for k in range(CHUNK + 5)]
    scores = list(scorer.score(traces, on_progress=lambda total: heard.append(msgspec.structs.replace(total))))
    last = heard[-1]
    assert (last.solutions, last.unscored, last.windowed) == (len(traces), 1, 0)
    assert last.steps == sum(p is not None for score in scores for p in score.mean)
    frame = len("Add.") + 2
    assert last.tokens == (len(traces) - 1) * (frame + 2 + 1) + frame + 2, "padding does not count"
    assert last.seconds > 0
    assert last.peak_bytes > 0
    assert last.steps_per_second == pytest.approx(last.steps / last.seconds)
    assert "1 not scored" in str(last)

    def stop(total: Throughput) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        list(scorer.score(traces, on_progress=stop))


@pytest.mark.parametrize("share_prefix", ["never", "always"])
def test_out_of_gpu_memory_halves_the_budget_and_goes_on(
    scorer: Scorer, share_prefix: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    traces = [Trace(str(k), "Add ones.", [Step(f"so {k}" + " so" * (k % 5)), Step("x")]) for k in range(40)]
    expected = list(scorer.score(traces))
    decoder = scorer.backbone.model.get_decoder()
    forward = decoder.forward

    def small(**inputs: torch.Tensor) -> object:
        if inputs["input_ids"].numel() > 400:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(**inputs)

    monkeypatch.setattr(decoder, "forward", small)
    scorer.local.share_prefix = share_prefix
    for found, score in zip(scorer.score(traces), expected, strict=True):
        assert_same(found, score)
    assert scorer.local.token_budget < 8192
    assert f"budget of {scorer.local.token_budget} tokens" in caplog.messages[-1]

    monkeypatch.setattr(decoder, "forward", lambda **inputs: (_ for _ in ()).throw(torch.OutOfMemoryError("full")))
    with pytest.raises(ScoringError, match=r"has too little memory for one solution of \d+ tokens: full"):
        list(scorer.score(traces))


def test_the_command_scores_blocks_in_windows_and_says_how_fast(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_traces(tmp_path / "data.jsonl", [Trace("t", "Add ones.", [Step(f"{k} + 1 = {k + 1}") for k in range(200)])])
    command = ["score", "--model", "zero:tiny", "--data", str(tmp_path / "data.jsonl"), "--out"]
    assert main([*command, str(tmp_path / "cut.jsonl")]) == 0
    assert (
        main([*command, str(tmp_path / "all.jsonl"), "--long", "window", "--blocks", "50", "--aggregate", "min"]) == 0
    )
    [cut], [whole] = read_scores(tmp_path / "cut.jsonl"), read_scores(tmp_path / "all.jsonl")
    assert cut.unscored > 0 == whole.unscored
    assert whole.windowed == cut.unscored
    assert len(whole.blocks) == 4
    assert whole.solution == min(whole.blocks) == min(whole.mean)
    said = capsys.readouterr().out.splitlines()
    assert f"1 solution, {200 - cut.unscored} steps scored (0 in windows), {cut.unscored} not scored" in said[0]
    assert "steps/s" in said[1]
