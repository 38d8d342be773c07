"""What a run says of its cost: arithmetic as torch counts it, tokens without padding, counters that begin anew."""

from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from prm.backbones import Backbone
from prm.training import costs
from prm.training.costs import Arithmetic, Meter, PackageEnergy, device_peak

CPU = torch.device("cpu")


def counted(backbone: Backbone, length: int, *, learn: bool) -> int:
    """FLOPs of matrix products as torch counts them; its count of attention leaves the causal half in."""
    ids = torch.zeros(1, length, dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        states = backbone.model.get_decoder()(input_ids=ids, use_cache=False).last_hidden_state
        if learn:
            states.sum().backward()
    operations = counter.get_flop_counts()["Global"]
    return sum(flops for operation, flops in operations.items() if "attention" not in str(operation))


@pytest.mark.parametrize("length", [7, 64])
def test_weights_cost_what_torch_counts(backbone: Backbone, length: int) -> None:
    arithmetic = Arithmetic.of(backbone, predictions=False)
    attention = arithmetic.attention * length**2
    assert arithmetic.forward([length]) - attention == counted(backbone, length, learn=False)
    assert arithmetic.learning([length], "full") - 3 * attention == counted(backbone, length, learn=True)


def test_frozen_weights_cost_a_third_less_and_predictions_cost_the_vocabulary(backbone: Backbone) -> None:
    plain, predicting = (Arithmetic.of(backbone, predictions=with_head) for with_head in (False, True))
    vocabulary, width = backbone.model.get_output_embeddings().weight.shape
    assert predicting.forward([5]) - plain.forward([5]) == 5 * 2 * vocabulary * width
    full, lora = (plain.learning([5], lane) for lane in ("full", "lora"))
    assert full - lora == plain.weights * 5


def test_attention_is_causal_and_of_each_document_alone(backbone: Backbone) -> None:
    arithmetic = Arithmetic(weights=0, head=0, attention=Arithmetic.of(backbone, predictions=False).attention)
    layers, heads, per_head = 3, 4, 8
    assert arithmetic.forward([10]) == 4 * layers * heads * per_head * 10 * 10 / 2
    assert arithmetic.forward([10, 10]) == 2 * arithmetic.forward([10])


def test_a_meter_tells_useful_tokens_from_padding_by_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(costs.time, "monotonic", lambda: now)
    monkeypatch.setattr(costs, "device_peak", lambda device: (1000.0, "said so"))
    meter = Meter(CPU)
    meter.enter("cache")
    meter.add(tokens=80, places=100, flops=5000)
    now = 110.0
    assert meter.rates("cache").tokens_per_second == 8.0
    meter.enter("train")
    now = 115.0
    found = meter.costs()
    assert found.stages["cache"].padded_share == 0.2
    assert found.stages["cache"].utilisation == 0.5
    assert found.stages["train"].seconds == 5.0
    assert found.stages["train"].tokens_per_second is None
    assert found.peak_memory_bytes > 1 << 20
    assert found.peak_source == "said so"


def test_a_cpu_is_measured_and_says_so() -> None:
    peak, source = device_peak(CPU)
    assert peak > 0
    assert source == "measured by a float32 matmul of 768 here"


@pytest.mark.parametrize(
    ("name", "peak"),
    [
        ("NVIDIA H100 80GB HBM3", 989e12),
        ("NVIDIA H100 PCIe", 756e12),
        ("NVIDIA A100-SXM4-80GB", 312e12),
        ("NVIDIA L4", 121e12),
    ],
)
def test_a_known_device_has_the_peak_of_its_data_sheet(monkeypatch: pytest.MonkeyPatch, name: str, peak: float) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: name)
    assert device_peak(torch.device("cuda")) == (peak, costs.DATA_SHEET)


def test_the_processors_counters_begin_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "intel-rapl:0"
    package.mkdir()
    counter = package / "energy_uj"
    (package / "max_energy_range_uj").write_text("1000000000\n")
    counter.write_text("999000000\n")
    monkeypatch.setattr(costs, "RAPL", tmp_path)
    found = costs.energy_counter(CPU)
    assert isinstance(found, PackageEnergy)
    counter.write_text("1000000\n")
    assert found.spent() == 2.0
    counter.write_text("3000000\n")
    assert found.spent() == 4.0


def test_no_counter_is_no_energy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "RAPL", tmp_path)
    assert costs.energy_counter(CPU) is None
    assert Meter(CPU).costs().energy_joules is None
