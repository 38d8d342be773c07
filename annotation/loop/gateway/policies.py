"""Policies to sample from: their endpoints by name, what they write, and whether it gives the reference answer."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from django.conf import settings

from annotation.core.errors import DomainError
from prm.messages import Message
from prm.vocabulary import StepKind

if TYPE_CHECKING:
    from prm.search import Endpoint

SANDBOX = "sandbox:"  # the address of the policies of the generated world, served by this process
PROMPT = "{problem}"
CONCURRENCY = 8
RUN_RETRIES, PREVIEW_RETRIES = 5, 1
RUN_SECONDS, PREVIEW_SECONDS = 300.0, 20.0


@dataclass(frozen=True)
class Sample:
    """One solution's text; `cut` if the policy reached the token limit."""

    text: str
    cut: bool


@dataclass(frozen=True)
class Reply:
    """The samples of one problem, or why there are none."""

    samples: list[Sample]
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str = ""


def endpoint_names() -> dict[str, str]:
    """The endpoints that the operator configured, each with the name of its model."""
    return {name: entry["model"] for name, entry in settings.POLICY_ENDPOINTS.items()}


def proposed_prompt(endpoint: str) -> str:
    """The prompt that the operator gave with the endpoint."""
    return str(settings.POLICY_ENDPOINTS.get(endpoint, {}).get("prompt", PROMPT))


def model_of(endpoint: str) -> str:
    """Raises DomainError (`unknown_endpoint`)."""
    entry = settings.POLICY_ENDPOINTS.get(endpoint)
    if entry is None:
        known = ", ".join(settings.POLICY_ENDPOINTS) or Message("no_endpoints")
        raise DomainError(Message("unknown_endpoint", endpoint=endpoint, known=known))
    return str(entry["model"])


class AskedPolicy:
    """One endpoint with its settings. Raises DomainError (`unknown_endpoint`, `invalid_sampling`)."""

    def __init__(
        self, endpoint: str, *, prompt: str, temperature: float, max_tokens: int, for_preview: bool = False
    ) -> None:
        self._endpoint = _endpoint(endpoint, prompt, temperature, max_tokens, for_preview)

    def ask(self, problems: Sequence[str], *, samples: int, seeds: Sequence[int]) -> list[Reply]:
        """`samples` solutions of each problem, several problems at a time; a failure does not affect other problems."""
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            return list(pool.map(lambda pair: self._ask(pair[0], samples, pair[1]), zip(problems, seeds, strict=True)))

    def _ask(self, problem: str, samples: int, seed: int) -> Reply:
        from prm.errors import PolicyError
        from prm.search import Prefix

        try:
            answers = self._endpoint.sample([Prefix(problem)], n=samples, seed=seed)
        except PolicyError as error:
            return Reply([], error=error.args[0])
        [completions], cost = answers
        texts = [Sample(completion.text, completion.cut) for completion in completions]
        return Reply(texts, cost.calls, cost.prompt_tokens, cost.completion_tokens)


def step_in(text: str) -> tuple[str, StepKind]:
    """A step's text and its kind, which may lead it: "[tool_call] rate("crowns")"."""
    from prm.encoding import parse_step

    step = parse_step(text)
    return step.text, cast(StepKind, step.kind)


def _endpoint(name: str, prompt: str, temperature: float, max_tokens: int, for_preview: bool) -> "Endpoint":
    from prm.errors import PolicyError
    from prm.search import Endpoint, Sampling

    model = model_of(name)
    entry = settings.POLICY_ENDPOINTS[name]
    try:
        return Endpoint(
            _sandbox_url() if entry["url"] == SANDBOX else entry["url"],
            model,
            api="completions" if entry.get("api") == "completions" else "chat",
            prompt=prompt,
            sampling=Sampling(temperature=temperature, max_tokens=max_tokens),
            api_key=entry.get("api_key"),
            timeout=PREVIEW_SECONDS if for_preview else RUN_SECONDS,
            retries=PREVIEW_RETRIES if for_preview else RUN_RETRIES,
            concurrency=CONCURRENCY,
        )
    except PolicyError as error:
        raise DomainError(Message("invalid_sampling", error=error), {"field": "prompt"}) from error


@lru_cache(maxsize=1)
def _sandbox_url() -> str:
    """The sandbox's solvers, served to this process by a thread of its own, from the first call to its end."""
    from prm.sandbox.endpoint import serve

    server = serve(port=0)
    threading.Thread(target=server.serve_forever, daemon=True, name="sandbox policy").start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"
