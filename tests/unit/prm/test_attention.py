"""The two ways through a packed row agree; on CUDA the real kernel, elsewhere one that does what it documents."""

import pytest
import torch
from torch import Tensor
from torch.nn.attention import varlen

from prm import attention
from prm.attention import Documents, attend

LENGTHS = [5, 5, 17, 40]
SIZE, HEADS, SHARED = 16, 4, 2
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="the variable-length kernel runs on CUDA only")


def described_kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bounds: Tensor,
    bounds_of_keys: Tensor,
    longest: int,
    longest_keys: int,
    *,
    scale: float,
    window_size: tuple[int, int],
    enable_gqa: bool,
) -> Tensor:
    """FlashAttention's contract: a query sees keys from `left` before it (-1: all) to `right` after it."""
    assert enable_gqa
    assert longest == longest_keys == max(LENGTHS)
    assert bounds is bounds_of_keys
    found = []
    for start, end in zip(bounds.tolist(), bounds.tolist()[1:], strict=False):
        q, k, v = (states[start:end].transpose(0, 1) for states in (query, key, value))
        k, v = (states.repeat_interleave(HEADS // SHARED, dim=0) for states in (k, v))
        seen = torch.ones(end - start, end - start, dtype=torch.bool).tril(window_size[1])
        seen = seen if window_size[0] < 0 else seen.triu(-window_size[0])
        scores = (q @ k.transpose(1, 2) * scale).masked_fill(~seen, -torch.inf)
        found.append((scores.softmax(-1) @ v).transpose(0, 1))
    return torch.cat(found)


def attended(window: int | None, device: str, dtype: torch.dtype) -> tuple[Tensor, list[Tensor]]:
    """What packed attention gives for fixed states, and its gradients, float32 on the CPU."""
    torch.manual_seed(0)
    states = [torch.randn(1, heads, sum(LENGTHS), SIZE) for heads in (HEADS, SHARED, SHARED)]
    states = [part.to(device, dtype).requires_grad_() for part in states]
    documents = Documents.of(LENGTHS, torch.device(device))
    found, _ = attend(None, *states, None, scaling=0.5, sliding_window=window, documents=documents)
    found.square().sum().backward()
    return found.detach().float().cpu(), [part.grad.float().cpu() for part in states if part.grad is not None]


@pytest.mark.parametrize("window", [None, 1, 12])
def test_the_kernel_is_asked_for_what_is_computed_by_document(
    window: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, gradients = attended(window, "cpu", torch.float32)
    monkeypatch.setattr(attention, "_has_varlen", lambda value: True)
    monkeypatch.setattr(varlen, "varlen_attn", described_kernel)
    asked, asked_gradients = attended(window, "cpu", torch.float32)
    torch.testing.assert_close(asked, found, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(asked_gradients, gradients, rtol=1e-4, atol=1e-4)


@needs_cuda
@pytest.mark.parametrize("window", [None, 1, 12])
def test_the_kernel_gives_what_is_computed_by_document(window: int | None) -> None:
    exact, exact_gradients = attended(window, "cpu", torch.float32)
    found, gradients = attended(window, "cuda", torch.bfloat16)
    torch.testing.assert_close(found, exact, rtol=0.05, atol=0.05)
    torch.testing.assert_close(gradients, exact_gradients, rtol=0.1, atol=0.2)


def test_bounds_are_running_sums() -> None:
    documents = Documents.of(LENGTHS, torch.device("cpu"))
    assert documents.bounds.tolist() == [0, 5, 10, 27, 67]
    assert documents.longest == 40
