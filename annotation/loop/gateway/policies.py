"""Policies and judges: their endpoints by name, their prices and their replies."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import QuerySet

from annotation.core.errors import DomainError
from prm.errors import PolicyError
from prm.messages import Message
from prm.search import Endpoint, Prefix, Sampling
from prm.servers import Unanswered
from prm.traces import Step

SANDBOX = "sandbox:"  # the address of the demo's policies, which this process serves
PROMPT = "{problem}"
MOST_TOKENS, HIGHEST_TEMPERATURE = 131_072, 2.0  # of one reply
CONCURRENCY = 8
SLICE_SECONDS = 20.0  # of one task of a run; other tasks of the queue run in between
RUN_RETRIES, PREVIEW_RETRIES = 5, 1
RUN_SECONDS, PREVIEW_SECONDS = 300.0, 20.0
FAILURES_IN_A_ROW = 10  # rows of a run, after which the endpoint counts as down
MILLION = 1_000_000
ANSWERED_BADLY = ("answer_without_choice", "server_answer_unreadable")


@dataclass(frozen=True)
class Sample:
    """One solution's text; `cut` if the policy reached the token limit."""

    text: str
    cut: bool


@dataclass(frozen=True)
class Reply:
    """The samples of one problem, or the error instead of them.

    If it is not `metered`, the server may have worked on it, but did not report the tokens.
    """

    samples: list[Sample]
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str = ""
    metered: bool = True


class Prices(NamedTuple):
    """Prices per million tokens."""

    prompt: Decimal = Decimal(0)
    completion: Decimal = Decimal(0)

    def cost(self, prompt_tokens: int, completion_tokens: int) -> Decimal:
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / MILLION


def endpoint_names() -> dict[str, str]:
    """The endpoints that the operator configured, each with the name of its model."""
    return {name: entry["model"] for name, entry in settings.POLICY_ENDPOINTS.items()}


def proposed_prompt(endpoint: str) -> str:
    """The prompt that the operator configured for the endpoint."""
    return str(settings.POLICY_ENDPOINTS.get(endpoint, {}).get("prompt", PROMPT))


def prices_of(endpoint: str) -> Prices:
    """The prices that the operator configured for the endpoint; 0 without them."""
    prices = settings.POLICY_ENDPOINTS.get(endpoint, {}).get("prices", {})
    return Prices(**{name: Decimal(str(price)) for name, price in prices.items()})


def model_of(endpoint: str) -> str:
    """The name of an endpoint's model. Raises DomainError (`unknown_endpoint`)."""
    entry = settings.POLICY_ENDPOINTS.get(endpoint)
    if entry is None:
        known = ", ".join(settings.POLICY_ENDPOINTS) or Message("no_endpoints")
        raise DomainError(Message("unknown_endpoint", endpoint=endpoint, known=known))
    return str(entry["model"])


def check_answering(finished: QuerySet[Any], *, of: int) -> None:
    """Raise DomainError (`policy_away`) if the last finished rows of a run, of `of` in all, have failed."""
    last = list(finished.order_by("-position").values_list("state", "error")[:FAILURES_IN_A_ROW])
    if len(last) == min(FAILURES_IN_A_ROW, of) and all(state == "failed" for state, _ in last):
        raise DomainError(Message("problems_failed_in_a_row", n=len(last), error=last[0][1]), code="policy_away")


class PolicyClient:
    """An endpoint with settings, ready to sample. Raises DomainError (`unknown_endpoint`, `invalid_sampling`).

    Without `resend`, it never repeats a request that the server may have answered.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        prompt: str,
        temperature: float,
        max_tokens: int,
        for_preview: bool = False,
        resend: bool = True,
    ) -> None:
        model = model_of(endpoint)
        entry = settings.POLICY_ENDPOINTS[endpoint]
        try:
            self._endpoint = Endpoint(
                _sandbox_url() if entry["url"] == SANDBOX else entry["url"],
                model,
                api=entry.get("api", "chat"),
                continuation=entry.get("continuation", "prefill"),
                prompt=prompt,
                sampling=Sampling(temperature=temperature, max_tokens=max_tokens),
                api_key=entry.get("api_key"),
                timeout=PREVIEW_SECONDS if for_preview else RUN_SECONDS,
                retries=PREVIEW_RETRIES if for_preview else RUN_RETRIES,
                concurrency=CONCURRENCY,
                resend=resend,
            )
        except PolicyError as error:
            raise DomainError(Message("invalid_sampling", error=error), {"field": "prompt"}) from error

    def sample(self, problems: Sequence[str], *, samples: int, seeds: Sequence[int]) -> list[Reply]:
        """Sample solutions of each problem, several problems at a time; a failure does not affect other problems."""
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            return list(
                pool.map(lambda pair: self._sample(pair[0], samples, pair[1]), zip(problems, seeds, strict=True))
            )

    def request(self, problem: str, steps: Sequence[tuple[str, str]] = (), *, samples: int, seed: int) -> Reply:
        """The reply to one request, which may have fewer samples. `steps`, each with its kind, are continued."""
        begun = [Step(text, kind) for text, kind in steps]
        try:
            completions, cost = self._endpoint.request(Prefix(problem, begun), n=samples, seed=seed)
        except PolicyError as error:
            lost = isinstance(error, Unanswered) or error.code in ANSWERED_BADLY
            return Reply([], error=error.args[0], metered=not lost)
        texts = [Sample(completion.text, completion.cut) for completion in completions]
        return Reply(texts, 1, cost.prompt_tokens, cost.completion_tokens, metered=not cost.unmetered)

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
