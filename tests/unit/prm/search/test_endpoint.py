"""Asking a policy: each API, continuation, stop sequences, seeds, cost, and what is said where it does not answer."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from prm.errors import PolicyError
from prm.search import Endpoint, Prefix, Sampling, beam_search
from prm.search.endpoint import read_key, steps_of
from prm.splitting import Splitting
from tests.unit.prm.search.a_tree import HashVerifier

NOWHERE = "http://127.0.0.1:9/v1"


def written(policy, *prefixes, **named):
    return [[sample.text for sample in samples] for samples in policy.sample(prefixes, **named).samples]


def test_the_same_seed_gives_the_same_samples_however_many_are_asked_at_once(policy, problems):
    prefixes = [Prefix(trace.problem) for trace in problems[:6]]
    first = written(policy, *prefixes, n=3, seed=7)
    assert written(policy, *prefixes, n=3, seed=7) == first
    assert written(policy, *prefixes, n=3, seed=8) != first
    assert [len(samples) for samples in first] == [3] * 6


@pytest.mark.parametrize(
    ("api", "continuation"), [("chat", "prefill"), ("chat", "ask"), ("completions", "prefill")], ids=str
)
def test_a_policy_goes_on_from_the_steps_that_stand(policy_url, problems, api, continuation):
    """From all but the last step of a right solution nothing but a last step follows."""
    policy = Endpoint(policy_url, "sandbox-strong", api=api, continuation=continuation, retries=30)
    for trace in [trace for trace in problems if trace.first_error == -1][:5]:
        [[sample]] = policy.sample([Prefix(trace.problem, trace.steps[:-1])]).samples
        assert steps_of(sample.text)[-1].text.rstrip("$.").split()[-1] == trace.steps[-1].text.rstrip("$.").split()[-1]
        assert len(steps_of(sample.text)) <= 3


def test_a_stop_sequence_gives_one_step_and_tells_the_last_from_the_others(policy, problems):
    trace = next(trace for trace in problems if trace.first_error == -1)
    [[first]] = policy.sample([Prefix(trace.problem)], stop=["\n\n"]).samples
    assert len(first.steps) == 1
    assert first.ended is False
    [[last]] = policy.sample([Prefix(trace.problem, trace.steps[:-1])], stop=["\n\n"], seed=3).samples
    assert last.ended is True


def test_an_answer_that_grows_too_long_says_that_it_was_cut(policy_url, problems):
    policy = Endpoint(policy_url, "sandbox-weak", sampling=Sampling(max_tokens=4), retries=30)
    [[sample]] = policy.sample([Prefix(problems[0].problem)]).samples
    assert sample.cut
    assert sample.ended is False


def test_the_cost_counts_calls_and_the_tokens_that_the_server_told(policy, problems):
    cost = policy.sample([Prefix(trace.problem) for trace in problems[:4]], n=2).cost
    assert (cost.calls, cost.unmetered) == (4, 0)
    assert cost.prompt_tokens > 4
    assert cost.completion_tokens > 8


def test_the_prompt_may_dress_the_problem(policy_url, problems):
    policy = Endpoint(policy_url, "sandbox-weak", prompt="Solve step by step.\n\n{problem}\n\nBe brief.", retries=30)
    assert all(text for [text] in written(policy, *[Prefix(trace.problem) for trace in problems[:3]]))


def test_the_language_model_writes_on_a_text_that_no_world_poses(policy_url):
    policy = Endpoint(policy_url, "tiny", sampling=Sampling(max_tokens=30), retries=30)
    [[sample]] = policy.sample([Prefix("Compute 3 + 4.")], stop=["\n\n"]).samples
    assert sample.text


@pytest.mark.parametrize(
    ("model", "problem", "said"),
    [
        ("nobody", "Compute 3 + 4.", "model 'nobody' does not exist"),
        ("sandbox-weak", "Who am I?", "contains no problem"),
    ],
)
def test_a_refusal_is_not_asked_again_and_says_what_the_server_said(policy_url, model, problem, said):
    with pytest.raises(PolicyError, match=said):
        Endpoint(policy_url, model, retries=30).sample([Prefix(problem)])


def test_a_busy_server_is_given_up_after_the_last_try(policy_url, problems):
    policy = Endpoint(policy_url, "sandbox-weak", retries=0)
    prefixes = [Prefix(problems[0].problem)] * 100
    with pytest.raises(PolicyError, match="429"):
        policy.sample(prefixes)


def test_no_server_is_one_clear_error():
    with pytest.raises(PolicyError, match=NOWHERE):
        Endpoint(NOWHERE, "any", retries=0).sample([Prefix("Compute 3 + 4.")])


@pytest.mark.parametrize(
    ("url", "prompt", "said"),
    [("file:///etc/passwd", "{problem}", "not a server address"), (NOWHERE, "Solve it.", "has no {problem}")],
)
def test_what_cannot_work_is_refused_before_anything_is_asked(url, prompt, said):
    with pytest.raises(PolicyError, match=said):
        Endpoint(url, "any", prompt=prompt)


def test_a_critique_needs_the_chat_api(policy_url, problems):
    with pytest.raises(PolicyError, match="chat API"):
        Endpoint(policy_url, "sandbox-weak", api="completions").sample([Prefix(problems[0].problem, (), "Look again.")])


def test_a_key_comes_from_a_file(tmp_path):
    file = tmp_path / "key"
    file.write_text("secret\n")
    assert read_key(file) == "secret"
    assert read_key(None) is None
    file.write_text("\n")
    with pytest.raises(PolicyError, match="no key"):
        read_key(file)
    with pytest.raises(PolicyError, match="No such file"):
        read_key(tmp_path / "absent")


@pytest.fixture
def thinking_url():
    """A server that parses reasoning out of the answer, as vLLM and SGLang do."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            message = {"content": "One.\n\nTwo.", "reasoning_content": "Hm."}
            body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


@pytest.mark.parametrize(("thinking", "steps"), [("drop", ["One.", "Two."]), ("keep", ["Hm.", "One.", "Two."])])
def test_reasoning_that_the_server_returns_beside_the_answer_is_treated_as_chosen(thinking_url, thinking, steps):
    policy = Endpoint(thinking_url, "any", splitting=Splitting("blank_lines", thinking))
    [[sample]] = policy.sample([Prefix("p")]).samples
    assert [step.text for step in sample.steps] == steps
    assert sample.hides_reasoning is (thinking == "drop")


def test_a_beam_refuses_a_policy_that_thinks_first(thinking_url):
    with pytest.raises(PolicyError, match="turn thinking off"):
        beam_search(Endpoint(thinking_url, "any"), HashVerifier(), "p")
