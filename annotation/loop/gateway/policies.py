"""Samples from policies: their endpoints by name, and their replies."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings

from annotation.core.errors import DomainError
from prm.errors import PolicyError
from prm.messages import Message
from prm.search import Endpoint, Prefix, Sampling

SANDBOX = "sandbox:"  # the address of the demo's policies, which this process serves
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
    """The samples of one problem, or the error instead of them."""

    samples: list[Sample]
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str = ""


def endpoint_names() -> dict[str, str]:
    """The endpoints that the operator configured, each with the name of its model."""
    return {name: entry["model"] for name, entry in settings.POLICY_ENDPOINTS.items()}


def proposed_prompt(endpoint: str) -> str:
    """The prompt that the operator configured for the endpoint."""
    return str(settings.POLICY_ENDPOINTS.get(endpoint, {}).get("prompt", PROMPT))


def model_of(endpoint: str) -> str:
    """The name of an endpoint's model. Raises DomainError (`unknown_endpoint`)."""
    entry = settings.POLICY_ENDPOINTS.get(endpoint)
    if entry is None:
        known = ", ".join(settings.POLICY_ENDPOINTS) or Message("no_endpoints")
        raise DomainError(Message("unknown_endpoint", endpoint=endpoint, known=known))
    return str(entry["model"])


class PolicyClient:
    """An endpoint with settings, ready to sample. Raises DomainError (`unknown_endpoint`, `invalid_sampling`)."""

    def __init__(
        self, endpoint: str, *, prompt: str, temperature: float, max_tokens: int, for_preview: bool = False
    ) -> None:
        model = model_of(endpoint)
        entry = settings.POLICY_ENDPOINTS[endpoint]
        try:
            self._endpoint = Endpoint(
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

    def sample(self, problems: Sequence[str], *, samples: int, seeds: Sequence[int]) -> list[Reply]:
        """Sample solutions of each problem, several problems at a time; a failure does not affect other problems."""
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            return list(
                pool.map(lambda pair: self._sample(pair[0], samples, pair[1]), zip(problems, seeds, strict=True))
            )

    def _sample(self, problem: str, samples: int, seed: int) -> Reply:
        try:
            answers = self._endpoint.sample([Prefix(problem)], n=samples, seed=seed)
        except PolicyError as error:
            return Reply([], error=error.args[0])
        [completions], cost = answers
        texts = [Sample(completion.text, completion.cut) for completion in completions]
        return Reply(texts, cost.calls, cost.prompt_tokens, cost.completion_tokens)


@lru_cache(maxsize=1)
def _sandbox_url() -> str:
    """The address of the sandbox's solvers, which a thread of this process serves from the first call."""
    from prm.sandbox.endpoint import serve

    server = serve(port=0)
    threading.Thread(target=server.serve_forever, daemon=True, name="sandbox policy").start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"
