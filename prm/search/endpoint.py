"""A policy at an OpenAI-compatible address (vLLM, SGLang, llama.cpp, Ollama, hosted services).

`prm.splitting` splits a solution into steps, by default at blank lines and without hidden reasoning. To continue from
some steps, the completions API receives the text so far. The chat API receives the steps as the beginning of the
assistant's message if the server can continue it ("prefill": vLLM, SGLang), else an instruction to continue ("ask").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from prm.encoding import TEXT_SEPARATOR, parse_step, render_step
from prm.errors import PolicyError, PolicyOptionError
from prm.messages import Message
from prm.servers import Server
from prm.splitting import Splitting
from prm.traces import Step

Api = Literal["chat", "completions"]
Continuation = Literal["prefill", "ask"]
PROBLEM = "{problem}"
PARAGRAPHS = Splitting("blank_lines", "drop")
GO_ON = "Go on from here. Write only what follows, one step a paragraph."


class Prefix(NamedTuple):
    """A prefix to continue from: a problem, its first steps, and a critique of an earlier attempt."""

    problem: str
    steps: Sequence[Step] = ()
    critique: str = ""


@dataclass(frozen=True)
class Sampled:
    """A sampled text. `ended` says whether the policy ended it, None if the server does not distinguish that from a
    stop sequence; `cut` says that it reached the token limit. Reasoning that a server returns separately
    (`reasoning_content`) is in the text between think tags."""

    text: str
    ended: bool | None = None
    cut: bool = False
    splitting: Splitting = PARAGRAPHS

    @property
    def steps(self) -> list[Step]:
        return steps_of(self.text, self.splitting)

    @property
    def hides_reasoning(self) -> bool:
        """Whether some of the text is hidden reasoning outside the steps."""
        return self.splitting.thinking != "keep" and self.splitting.split(self.text).thinking_length > 0


class Cost(msgspec.Struct, frozen=True):
    """The cost of sampling and verifying. `unmetered` counts calls without a token count from the server."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unmetered: int = 0
    steps_verified: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        amounts = (msgspec.structs.astuple(cost) for cost in (self, other))
        return Cost(*map(sum, zip(*amounts, strict=True)))

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class Answers(NamedTuple):
    """The samples of each prefix, and their total cost."""

    samples: list[list[Sampled]]
    cost: Cost


class Policy(Protocol):
    """Samples continuations of prefixes."""

    def sample(
        self,
        prefixes: Sequence[Prefix],
        *,
        n: int = 1,
        stop: Sequence[str] = (),
        seed: int = 0,
        max_tokens: int | None = None,
    ) -> Answers:
        """`n` continuations of each prefix, each up to one of the `stop` texts and without it.

        `max_tokens` is a further limit on each of them.
        """


@dataclass(frozen=True)
class Sampling:
    """How a policy samples; `max_tokens` is the maximum per answer."""

    temperature: float = 0.8
    top_p: float = 1.0
    max_tokens: int = 1024


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Message(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None  # from SGLang, DeepSeek and older vLLM
    reasoning: str | None = None  # the same from newer vLLM and OpenRouter

    @property
    def text(self) -> str:
        hidden, answer = self.reasoning_content or self.reasoning, self.content or ""
        return f"<think>{hidden}{'</think>' if answer else ''}{answer}" if hidden else answer


class _Choice(msgspec.Struct):
    text: str | None = None
    message: _Message | None = None
    finish_reason: str | None = None
    stop_reason: int | str | msgspec.UnsetType | None = msgspec.UNSET  # from vLLM and SGLang


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


class Endpoint:
    """A policy: `url` includes `/v1`, and `prompt` is the user message with "{problem}" in it.

    `splitting` applies to whole solutions; a sample with a stop text is split at blank lines. Raises PolicyError if the
    server fails or returns an unexpected response.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api: Api = "chat",
        continuation: Continuation = "prefill",
        prompt: str = PROBLEM,
        splitting: Splitting = PARAGRAPHS,
        sampling: Sampling = Sampling(),
        api_key: str | None = None,
        timeout: float = 120.0,
        retries: int = 5,
        concurrency: int = 8,
        resend: bool = True,
    ) -> None:
        if PROBLEM not in prompt:
            raise PolicyOptionError(Message("prompt_without_problem", problem=PROBLEM))
        self.model, self.api, self.continuation, self.prompt, self.sampling = model, api, continuation, prompt, sampling
        self.splitting = splitting
        self._server = Server(
            url, api_key=api_key, timeout=timeout, retries=retries, concurrency=concurrency, resend=resend
        )
        self.url = self._server.url

    def sample(
        self,
        prefixes: Sequence[Prefix],
        *,
        n: int = 1,
        stop: Sequence[str] = (),
        seed: int = 0,
        max_tokens: int | None = None,
    ) -> "Answers":
        """`n` continuations of each prefix, in order; reproducible by `seed` if the server supports seeds."""
        longest = self.sampling.max_tokens if max_tokens is None else min(max_tokens, self.sampling.max_tokens)

        def ask(number: int) -> tuple[list[Sampled], Cost]:
            return self._ask(prefixes[number], n, stop, seed * 1_000_003 + number, longest)

        answers = self._server.each(ask, range(len(prefixes)))
        return Answers([samples for samples, _ in answers], sum((cost for _, cost in answers), Cost()))

    def _ask(self, prefix: Prefix, n: int, stop: Sequence[str], seed: int, longest: int) -> tuple[list[Sampled], Cost]:
        """Samples of one prefix, in several requests if necessary: some servers ignore `n` and return one choice."""
        samples: list[Sampled] = []
        cost = Cost()
        while len(samples) < n:
            more, spent = self.request(
                prefix, n=n - len(samples), stop=stop, seed=seed + len(samples) * 7919, max_tokens=longest
            )
            samples += more
            cost += spent
        return samples[:n], cost

    def request(
        self, prefix: Prefix, *, n: int = 1, stop: Sequence[str] = (), seed: int = 0, max_tokens: int | None = None
    ) -> tuple[list[Sampled], Cost]:
        """The samples of one request, of which a server may return fewer than `n`, and their cost."""
        question = self._question(prefix, n, stop, max_tokens or self.sampling.max_tokens) | {"seed": seed % 2**31}
        path = "/completions" if self.api == "completions" else "/chat/completions"
        answer = self._server.ask(path, _Completion, question)
        if not answer.choices:
            raise PolicyError(Message("answer_without_choice", url=self.url, path=path))
        splitting = msgspec.structs.replace(self.splitting, rule=PARAGRAPHS.rule) if stop else self.splitting
        usage = answer.usage or _Usage()
        cost = Cost(1, usage.prompt_tokens, usage.completion_tokens, unmetered=answer.usage is None)
        return [_sampled(choice, bool(stop), splitting) for choice in answer.choices[:n]], cost

    def _question(self, prefix: Prefix, n: int, stop: Sequence[str], longest: int) -> dict[str, Any]:
        message = self.prompt.replace(PROBLEM, prefix.problem)
        if prefix.critique:
            if self.api == "completions":
                raise PolicyOptionError(Message("critique_needs_chat"))
            message += TEXT_SEPARATOR + prefix.critique
        begun = "".join(render_step(step) + TEXT_SEPARATOR for step in prefix.steps)
        question: dict[str, Any] = {
            "model": self.model,
            "n": n,
            "temperature": self.sampling.temperature,
            "top_p": self.sampling.top_p,
            "max_tokens": longest,
        }
        if stop:
            question["stop"] = list(stop)
        if self.api == "completions":
            return question | {"prompt": message + TEXT_SEPARATOR + begun}
        messages = [{"role": "user", "content": message}]
        if begun:
            messages.append({"role": "assistant", "content": begun})
            if self.continuation == "ask":
                messages.append({"role": "user", "content": GO_ON})
            else:
                question |= {"continue_final_message": True, "add_generation_prompt": False}
        return question | {"messages": messages}


def steps_of(text: str, splitting: Splitting = PARAGRAPHS) -> list[Step]:
    """The steps of a solution's text, with the kinds that precede them, else those of an agent run's turns."""
    split = splitting.split(text)
    parsed = ((parse_step(part), kind) for part, kind in zip(split.steps, split.kinds, strict=True))
    return [Step(step.text, kind) if step.kind == "reasoning" else step for step, kind in parsed]


def read_key(path: Path | None) -> str | None:
    """The API key in a file. Raises PolicyOptionError if there is none."""
    if path is None:
        return None
    try:
        key = path.read_text().strip()
    except OSError as error:
        raise PolicyOptionError(Message("path_error", path=path, error=error.strerror or error)) from error
    if not key:
        raise PolicyOptionError(Message("key_file_empty", path=path))
    return key


def _sampled(choice: _Choice, had_stop: bool, splitting: Splitting) -> Sampled:
    text = choice.text if choice.message is None else choice.message.text
    stopped = choice.stop_reason
    ended: bool | None = choice.finish_reason == "stop"
    if ended and had_stop:
        ended = None if stopped is msgspec.UNSET else stopped is None
    return Sampled(text or "", ended, cut=choice.finish_reason == "length", splitting=splitting)
