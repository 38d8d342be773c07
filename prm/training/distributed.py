"""Trains one model in several processes, one per device, on one machine or several.

Every process reads the same data and draws the same batches, but computes only its share of each batch. The gradients
of all shares are summed, so that a step equals that of a single process. Machines need not share a disk: the first
process, the leader, decides what its folder decides, and sends the others what it reads there.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.distributed_c10d import _set_pg_timeout
from torch.distributed.tensor import DTensor, distribute_tensor

from prm.errors import Cancelled, DataError, PRMError, TrainingError
from prm.messages import Message
from prm.processes import world_size

T = TypeVar("T")
BUCKET = 64 << 20  # bytes of gradients summed at a time
POLL_SECONDS = 0.1
JOINING = timedelta(minutes=30)  # a process that failed before it joined is not waited for any longer
PATIENCE = timedelta(hours=12)  # one process may fit heads for hours while the others wait


@dataclass(frozen=True)
class Team:
    """The processes of a run and this one's rank; with one process, every method is trivial."""

    rank: int = 0
    size: int = 1
    device: torch.device | None = None

    @classmethod
    def join(cls) -> "Team":
        """Join the processes that `accelerate launch` or `torchrun` started with this one, if either did."""
        if world_size() == 1:
            return cls()
        from accelerate import PartialState

        state = PartialState(cpu=not torch.cuda.is_available(), timeout=JOINING)
        _set_pg_timeout(PATIENCE)
        return cls(state.process_index, state.num_processes, state.device)

    @property
    def leads(self) -> bool:
        """Whether this process reports and writes."""
        return self.rank == 0

    def deal(self, items: Sequence[T]) -> list[T]:
        """This process's share of the items."""
        return list(items[self.rank :: self.size])

    def gather(self, own: T) -> list[T]:
        """The values of all processes, by rank; for plain values and tensors on the CPU."""
        if self.size == 1:
            return [own]
        gathered: list[Any] = [None] * self.size
        dist.all_gather_object(gathered, own)
        return gathered

    def add_up(self, tensors: Iterable[Tensor]) -> None:
        """Replace each tensor by its sum over the processes, in buckets of one type."""
        if self.size == 1:
            return
        for bucket in _buckets(tensors):
            flat = torch.cat([tensor.reshape(-1) for tensor in bucket])
            dist.all_reduce(flat)
            for tensor, summed in zip(bucket, flat.split([t.numel() for t in bucket]), strict=True):
                tensor.copy_(summed.view_as(tensor))

    def copy_from_leader(self, tensors: Iterable[Tensor]) -> None:
        """Copy the leader's values to every process."""
        if self.size > 1:
            for tensor in tensors:
                dist.broadcast(tensor, src=0)

    def from_leader(self, own: T) -> T:
        """The leader's value, in every process."""
        objects = [own]
        if self.size > 1:
            dist.broadcast_object_list(objects)
        return objects[0]

    def tensors_from_leader(self, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The leader's tensors, in every process, on the CPU."""
        if self.size == 1:
            return dict(own)
        tensors: dict[str, Tensor] = {}
        for name, (shape, dtype) in self.from_leader({name: (t.shape, t.dtype) for name, t in own.items()}).items():
            tensor = own[name] if self.leads else torch.empty(shape, dtype=dtype)
            tensor = tensor.to(self.device)
            dist.broadcast(tensor, src=0)
            tensors[name] = tensor.cpu()
        return tensors

    def attempt(self, work: Callable[[], T]) -> T:
        """The result of `work`, which every process calls. If it fails or is cancelled in one, all raise an error."""
        error: PRMError | None = None
        try:
            result = work()
        except PRMError as raised:
            error = raised
        failures = self.gather(None if error is None else (isinstance(error, Cancelled), error.message))
        if error is not None:
            raise error
        for rank, failure in enumerate(failures):
            if failure is not None:
                cancelled, reason = failure
                raise (
                    Cancelled(reason)
                    if cancelled
                    else TrainingError(Message("process_failed", rank=rank, reason=reason))
                )
        return result

    def agree(self, **values: str) -> None:
        """Raises DataError in all processes unless all have these values; the message names one that differs."""
        first, *others = self.gather(values)
        for rank, theirs in enumerate(others, start=1):
            for name, value in theirs.items():
                if value != first[name]:
                    raise DataError(Message("processes_differ", rank=rank, name=name))

    def gather_to_leader(self, own: T) -> list[T]:
        """The values of all processes by rank in the leader; empty in the others."""
        if self.size == 1:
            return [own]
        gathered: list[Any] | None = [None] * self.size if self.leads else None
        dist.gather_object(own, gathered)
        return gathered or []

    def total(self, *values: float) -> list[float]:
        """The sums of these values over the processes."""
        if self.size == 1:
            return list(values)
        sums = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(sums)
        return sums.tolist()

    def collect(self, own: Tensor, sizes: Sequence[int]) -> Tensor:
        """The rows of all items in order, from each process's rows of its share; `sizes` are rows per item."""
        if self.size == 1:
            return own
        parts: list[Tensor] = [own[:0]] * len(sizes)
        for rank, rows in enumerate(self.gather(own.cpu())):
            parts[rank :: self.size] = rows.to(own.device).split(list(sizes[rank :: self.size]))
        return torch.cat(parts)

    def wait(self, check: Callable[[], None]) -> None:
        """Wait until all processes arrive; `check` is called while waiting and may raise to stop."""
        if self.size == 1:
            return
        arrival = dist.barrier(async_op=True)
        while not arrival.is_completed():
            check()
            time.sleep(POLL_SECONDS)


ALONE = Team()


def _buckets(tensors: Iterable[Tensor]) -> list[list[Tensor]]:
    buckets: dict[torch.dtype, list[list[Tensor]]] = {}
    for tensor in tensors:
        of_kind = buckets.setdefault(tensor.dtype, [[]])
        if sum(t.nbytes for t in of_kind[-1]) > BUCKET:
            of_kind.append([])
        of_kind[-1].append(tensor)
    return [bucket for of_kind in buckets.values() for bucket in of_kind]


def shard_layers(layers: Iterable[Any], team: Team) -> None:
    """Shard the weights of every layer over the processes (FSDP2); other weights stay whole.

    Gradients come out summed, as `add_up` leaves those of the rest.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    assert team.device is not None
    mesh = init_device_mesh(team.device.type, (team.size,))
    for layer in layers:
        fully_shard(layer, mesh=mesh)
        layer.set_gradient_divide_factor(1.0)
        layer.set_force_sum_reduction_for_comms(True)


def is_sharded(tensor: Tensor) -> bool:
    """Whether this process holds only a part of the tensor."""
    return isinstance(tensor, DTensor)


def own_part(tensor: Tensor) -> Tensor:
    """The part of the tensor in this process."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def assemble(part: Tensor, like: Tensor) -> Tensor:
    """The whole tensor from every process's part, sharded as `like`; every process must call this."""
    if not isinstance(like, DTensor):
        return part
    parts = DTensor.from_local(
        part.to(like.device), like.device_mesh, like.placements, shape=like.shape, stride=like.stride()
    )
    return parts.full_tensor()


def lay_out(whole: Tensor, like: Tensor) -> Tensor:
    """A whole tensor, present in every process, on the device and with the sharding of `like`."""
    whole = whole.detach().to(like.device)
    return distribute_tensor(whole, like.device_mesh, like.placements) if isinstance(like, DTensor) else whole


def clip(parameters: Sequence[nn.Parameter], most: float) -> None:
    """Scale gradients, including sharded ones, to a joint norm of at most `most`."""
    if not any(map(is_sharded, parameters)):
        nn.utils.clip_grad_norm_(parameters, most)
        return
    gradients = [p.grad for p in parameters if p.grad is not None]
    squares = {True: torch.zeros(()), False: torch.zeros(())}
    for gradient in gradients:
        part = own_part(gradient)
        squares[is_sharded(gradient)] = squares[is_sharded(gradient)].to(part.device) + part.float().square().sum()
    dist.all_reduce(squares[True])
    scale = (most / ((squares[True] + squares[False]).sqrt() + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        own_part(gradient).mul_(scale)
