"""Exported folders on a hub: a server here that speaks as much of its protocol as an upload needs."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from prm.__main__ import main

CARD = "---\ntags: [process-reward-model]\n---\n\nA card.\n"


@dataclass
class Hub:
    """The models of a hub at `url`: whether each is private, and its files."""

    url: str = ""
    private: dict[str, bool] = field(default_factory=dict)
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)

    def create(self, request: dict[str, Any]) -> tuple[int, Any]:
        name = f"{request['organization']}/{request['name']}"
        if name in self.files:
            return 409, {"error": "You already created this model repo", "url": f"{self.url}/{name}"}
        self.private[name] = request.get("private", False) or request.get("visibility") == "private"
        self.files[name] = {}
        return 200, {"url": f"{self.url}/{name}"}

    def commit(self, name: str, lines: list[dict[str, Any]]) -> tuple[int, Any]:
        for line in lines:
            path = line["value"].get("path")
            if line["key"] == "file":
                self.files[name][path] = base64.b64decode(line["value"]["content"])
            elif line["key"] == "deletedFile":
                del self.files[name][path]
        return 200, {"commitUrl": f"{self.url}/{name}/commit/1", "commitOid": "1", "hookOutput": ""}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = "/".join(self.path.partition("?")[0].split("/")[3:5])
            if name not in hub.files:
                self.send(404, {})
                return
            files = [{"type": "file", "path": p, "size": len(b), "oid": "0"} for p, b in hub.files[name].items()]
            siblings = [{"rfilename": one["path"]} for one in files]
            self.send(200, files if "/tree/" in self.path else {"id": name, "sha": "0", "siblings": siblings})

        def do_POST(self) -> None:
            assert self.headers["Authorization"] == "Bearer a-token"
            body = self.rfile.read(int(self.headers["Content-Length"]))
            place = self.path.partition("?")[0].split("/")
            name = "/".join(place[3:5])
            if self.path == "/api/repos/create":
                self.send(*hub.create(json.loads(body)))
            elif "preupload" in place:
                paths = [one["path"] for one in json.loads(body)["files"]]
                self.send(200, {"files": [{"path": p, "uploadMode": "regular", "shouldIgnore": False} for p in paths]})
            elif "commit" in place:
                self.send(*hub.commit(name, [json.loads(line) for line in body.splitlines()]))
            else:
                self.send(200, {"errors": [], "warnings": []})  # of the card's head

        def send(self, status: int, answer: Any) -> None:
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *values: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        hub.url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        monkeypatch.setenv("HF_TOKEN", "a-token")
        yield hub
        server.shutdown()


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    folder = tmp_path / "exported"
    folder.mkdir()
    (folder / "README.md").write_text(CARD)
    (folder / "config.json").write_text("{}")
    return folder


@pytest.mark.slow
def test_a_model_is_pushed_with_its_card_privately_and_once(
    hub: Hub, exported: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["push", "--source", str(exported), "--to", "hub:lab/model"]
    assert main(command) == 0
    assert capsys.readouterr().out == f"{hub.url}/lab/model\n"
    assert hub.private == {"lab/model": True}
    assert hub.files["lab/model"] == {"README.md": CARD.encode(), "config.json": b"{}"}
    hub.files["lab/model"]["old.json"] = b"{}"
    assert main(command) == 2
    assert "lab/model is already on the hub. Use --replace" in capsys.readouterr().err
    (exported / "README.md").write_text(CARD + "New.\n")
    assert main([*command, "--replace"]) == 0
    assert hub.files["lab/model"] == {"README.md": f"{CARD}New.\n".encode(), "config.json": b"{}"}
    assert main(["push", "--source", str(exported), "--to", "hub:lab/open", "--public"]) == 0
    assert hub.private["lab/open"] is False


def test_a_push_without_a_token_or_a_hub_is_refused_in_one_line(
    exported: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    command = ["push", "--source", str(exported), "--to", "hub:lab/model"]
    assert main(command) == 2
    assert capsys.readouterr().err == "No token for the hub: set HF_TOKEN, or run hf auth login.\n"
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "a-token")
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    assert main(command) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("lab/model could not be pushed to the hub. Reason: ")
