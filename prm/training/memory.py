"""Repeats work in smaller parts after it runs out of memory, down to a minimum size."""

from collections.abc import Callable
from typing import TypeVar

import torch

from prm.errors import TrainingError
from prm.messages import Message

FLOOR = 64  # tokens in one pass; if these do not fit, nothing does
CPU_ALLOCATOR = "can't allocate memory"  # torch raises a plain RuntimeError there
T = TypeVar("T")


def ran_out(error: BaseException) -> bool:
    """Whether an error means that memory ran out, on a GPU or a CPU."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and CPU_ALLOCATOR in str(error)


class Budget:
    """The maximum of tokens in one pass of a kind (`what`), halved whenever they do not fit."""

    def __init__(self, what: str, tokens: int, note: Callable[[str], None]) -> None:
        self.what, self.tokens, self.note = what, tokens, note

    def attempt(self, work: Callable[[int], T]) -> T:
        """The result of `work` for as many tokens as fit. Raises TrainingError at the minimum."""
        while True:
            try:
                return work(self.tokens)
            except (RuntimeError, MemoryError) as error:
                if not ran_out(error):
                    raise
            self.halve()  # outside `except`, so that the failed attempt's frames and tensors are freed

    def halve(self) -> None:
        """Continue with half as many. Raises TrainingError at the minimum."""
        if self.tokens // 2 < FLOOR:
            raise TrainingError(Message("memory_exhausted", tokens=self.tokens, what=self.what))
        self.tokens //= 2
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self.note(Message("memory_reduced", tokens=self.tokens, what=self.what))
