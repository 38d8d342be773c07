"""Over a server that answers as vLLM's pooling API is documented to, scores are those of the backbone at hand."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from prm.__main__ import main
from prm.backbones import Backbone, load_backbone
from prm.config import TrainConfig
from prm.encoding import Encoded
from prm.errors import ModelFileError, ScoringError
from prm.features import step_features
from prm.portable.classifiers import export_classifier
from prm.portable.importing import adopt
from prm.portable.marking import Marks
from prm.scores import read_scores
from prm.scoring import Scorer
from prm.scoring.vllm import load_over_vllm
from prm.traces import Step, Trace, write_traces
from prm.training import train
from tests.unit.prm.scoring.judging import assert_same
from tests.unit.prm.small_world import make_traces

Answer = tuple[int, Any]


def states_of(backbone: Backbone, ids: list[int], normalised: bool) -> Tensor:
    """Task token_embed of plain vLLM."""
    states = backbone.model.get_decoder()(torch.tensor([ids]), use_cache=False).last_hidden_state[0]
    return torch.nn.functional.normalize(states, dim=1) if normalised else states


def features_of(scorer: Scorer, ids: list[int], activated: bool) -> Tensor:
    """Task token_classify of vLLM with this library and the exported model."""
    assert not activated
    backbone = scorer.backbone
    marks = Marks.of(backbone.layout, backbone.tokenizer.all_special_ids)
    restored = marks.restore(torch.tensor(ids), torch.arange(len(ids))).tolist()
    spans = tuple(marks.spans(ids))
    return step_features(backbone, [Encoded(tuple(restored), spans, len(spans))], scorer.features)


def pooling(task: str, rows_of: Callable[[list[int], bool], Tensor], question: dict[str, Any]) -> Answer:
    """POST /pooling as vLLM documents it, for this task in base64."""
    assert question["task"] == task
    assert (question["encoding_format"], question["embed_dtype"], question["endianness"]) == (
        "base64", "float32", "little",
    )  # fmt: skip
    data = []
    for index, ids in enumerate(question["input"]):
        with torch.no_grad():
            rows = rows_of(ids, question["use_activation"])
        packed = base64.b64encode(rows.numpy().astype("<f4").tobytes()).decode()
        data.append({"index": index, "object": "pooling", "data": packed})
    count = sum(map(len, question["input"]))
    return 200, {
        "id": "pool-1",
        "object": "list",
        "created": 1,
        "model": question["model"],
        "data": data,
        "usage": {"prompt_tokens": count, "total_tokens": count, "completion_tokens": 0, "prompt_tokens_details": None},
    }


class Server:
    """A server in this process; `answer` may be replaced by a test."""

    def __init__(self, backbone: Backbone) -> None:
        self.models = ["base"]
        self.context = 512
        self.questions: list[dict[str, Any]] = []
        self.answer: Callable[[dict[str, Any]], Answer] = partial(pooling, "token_embed", partial(states_of, backbone))
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                models = [{"id": name, "object": "model", "max_model_len": server.context} for name in server.models]
                self.send(200, {"object": "list", "data": models})

            def do_POST(self) -> None:
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.questions.append({"path": self.path, "key": self.headers["Authorization"], **question})
                self.send(*server.answer(question))

            def send(self, status: int, body: Any) -> None:
                self.send_response(status)
                self.end_headers()
                with suppress(BrokenPipeError):  # the caller did not wait
                    self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

            def log_message(self, *args: object) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def server(backbone_folders: dict[str, Path]) -> Iterator[Server]:
    server = Server(load_backbone(str(backbone_folders["llama"]), device="cpu"))
    yield server
    server.http.shutdown()
    server.http.server_close()


@pytest.fixture(scope="module")
def model(backbone_folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that plain vLLM can serve."""
    return trained(backbone_folders, tmp_path_factory.mktemp("served"), features=("last", "separator"))


def trained(folders: dict[str, Path], folder: Path, **choices: Any) -> Path:
    write_traces(folder / "data.jsonl", make_traces(30, seed=0))
    config = TrainConfig(base=str(folders["llama"]), epochs=1, heads=3, hidden=8, **choices)
    train(data=folder / "data.jsonl", out=folder / "out", config=config, report=lambda progress: None)
    return folder / "out"


def test_scores_are_those_of_the_backbone_at_hand(model: Path, server: Server) -> None:
    traces = [*make_traces(20, seed=4), Trace("long", "Add.", [Step("x" * 400), Step("y" * 200)])]
    local, remote = Scorer.load(model, device="cpu"), load_over_vllm(model, server.url + "/", api_key="secret")
    for found, expected in zip(remote.score(traces), local.score(traces), strict=True):
        assert_same(found, expected)
    assert remote.threshold == local.threshold
    assert {(q["path"], q["key"], q["model"]) for q in server.questions} == {("/pooling", "Bearer secret", "base")}
    with pytest.raises(ScoringError, match="uses a server"):
        remote.session("Add 1.")


def test_the_servers_shorter_context_is_kept_to(model: Path, server: Server) -> None:
    server.context = 60
    trace = Trace("t", "Add ones.", [Step(f"{k} + 1 = {k + 1}") for k in range(12)])
    [cut], [whole] = (load_over_vllm(model, server.url, long=long).score([trace]) for long in ("null", "window"))
    assert cut.unscored == whole.windowed > 0
    assert max(len(ids) for q in server.questions for ids in q["input"]) <= 60


def test_the_command_scores_over_a_server(model: Path, server: Server, tmp_path: Path) -> None:
    server.models.append("other")
    write_traces(tmp_path / "data.jsonl", make_traces(3, seed=4))
    command = ["score", "--model", str(model), "--data", str(tmp_path / "data.jsonl"), "--out", str(tmp_path / "out")]
    assert main([*command, "--vllm", server.url, "--vllm-model", "base"]) == 0
    assert all(score.unscored == 0 for score in read_scores(tmp_path / "out"))


@pytest.mark.parametrize(
    "choices",
    [{}, {"features": ("middle",)}, {"lane": "lora", "features": ("last",)}, {"lane": "full"}],
)
def test_models_that_need_more_than_last_states_read_the_features_of_each_step(
    choices: dict[str, Any], backbone_folders: dict[str, Path], tmp_path: Path, server: Server
) -> None:
    model = trained(backbone_folders, tmp_path, **choices)
    local = Scorer.load(model, device="cpu")
    server.answer = partial(pooling, "token_classify", partial(features_of, local))
    remote = load_over_vllm(model, server.url)
    traces = [*make_traces(6, seed=4), Trace("long", "Add.", [Step("x" * 400), Step("y" * 200)])]
    for found, expected in zip(remote.score(traces), local.score(traces), strict=True):
        assert_same(found, expected)


def test_a_model_of_another_tool_is_refused_with_the_way_out(model: Path, tmp_path: Path, server: Server) -> None:
    export_classifier(model, tmp_path / "out", layout="process_reward", data=model.parent / "data.jsonl")
    adopt(tmp_path / "out", tmp_path / "adopted")
    with pytest.raises(ModelFileError, match="serve its original folder in vLLM"):
        load_over_vllm(tmp_path / "adopted", server.url)


def change(**changes: Any) -> Callable[[Answer], Answer]:
    return lambda answer: (200, {**answer[1], "data": [{**each, **changes} for each in answer[1]["data"]]})


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (
            lambda a: (404, {"error": {"message": "The model `base` does not exist."}}),
            r"returned status 404: .*does not exist",
        ),
        (lambda a: (500, b""), "returned status 500"),
        (lambda a: (200, b"<html>"), "returned an unexpected response"),
        (lambda a: (200, {"data": [{"index": 0, "data": [[0.1]]}]}), "returned an unexpected response"),
        (lambda a: (200, {**a[1], "data": a[1]["data"][1:]}), "returned 1 text, expected 2"),
        (change(index=0), "returned 2 texts, expected 2"),
        (change(data="AAAA"), "3 bytes for .* width 32.*another backbone"),
    ],
)
def test_answers_of_another_shape_are_refused(
    spoil: Callable[[Answer], Answer], reason: str, model: Path, server: Server
) -> None:
    rightly = server.answer
    server.answer = lambda question: spoil(rightly(question))
    with pytest.raises(ScoringError, match=reason):
        list(load_over_vllm(model, server.url).score(make_traces(2, seed=4)))


@pytest.mark.parametrize(
    ("states", "reason"),
    [(lambda n: np.full((n, 32), np.nan), "not finite"), (lambda n: np.eye(32)[np.arange(n) % 32], "use_activation")],
)
def test_states_that_are_no_states_are_refused(
    states: Callable[[int], Any], reason: str, model: Path, server: Server
) -> None:
    def answer(question: dict[str, Any]) -> Answer:
        packed = [base64.b64encode(states(len(ids)).astype("<f4").tobytes()).decode() for ids in question["input"]]
        return 200, {"data": [{"index": index, "data": each} for index, each in enumerate(packed)]}

    server.answer = answer
    with pytest.raises(ScoringError, match=reason):
        list(load_over_vllm(model, server.url).score(make_traces(1, seed=4)))


def test_a_server_that_is_slow_absent_or_has_other_models_is_told_as_it_is(model: Path, server: Server) -> None:
    server.answer = lambda question: (time.sleep(0.5), (200, {}))[1]
    with pytest.raises(ScoringError, match=r"did not respond within 0.1 s"):
        list(load_over_vllm(model, server.url, timeout=0.1).score(make_traces(1, seed=4)))
    with pytest.raises(ScoringError, match="serves base, not 'other': set the backbone to one of them"):
        load_over_vllm(model, server.url, served="other")
    server.models = ["one", "two"]
    with pytest.raises(ScoringError, match="serves one, two"):
        load_over_vllm(model, server.url)
    with pytest.raises(ScoringError, match="not a server address"):
        load_over_vllm(model, "file:///etc")
    with pytest.raises(ScoringError, match="refused"):
        load_over_vllm(model, "http://127.0.0.1:9")
