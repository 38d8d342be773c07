"""TRL's side, run by the Python of its environment: `with_trl.py JOB`, a job as JSON. Imports nothing of ours.

train          TRL's PRMTrainer, full fine-tuning; the second of two epochs is timed
every_prefix   TRL's documented scoring: its token-classification pipeline on every prefix, one after another
padded         one pass per solution in padded batches, with the logits of the separators
"""

import json
import sys
import tempfile
import time

import torch
from datasets import Dataset
from transformers import AutoModelForTokenClassification, AutoTokenizer, TrainerCallback, pipeline
from trl.experimental.prm import PRMConfig, PRMTrainer

SEPARATOR = "\n"


class EpochClock(TrainerCallback):
    """Records the start and end of each epoch."""

    def __init__(self, device):
        self.device, self.times = device, []

    def on_epoch_begin(self, *_, **__):
        self.times.append(now(self.device))

    def on_epoch_end(self, *_, **__):
        self.times.append(now(self.device))


def train(job):
    model = load_model(job).float()  # PRMConfig's bf16 is autocast, so the weights stay float32
    arguments = PRMConfig(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=2,
        per_device_train_batch_size=job["batch"],
        train_sampling_strategy=job["sampling"],
        max_length=None,  # the default cuts labels at 1,024 tokens
        gradient_checkpointing=job["checkpointing"],
        bf16=job["device"] == "cuda",
        use_cpu=job["device"] == "cpu",
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    clock = EpochClock(job["device"])
    trainer = PRMTrainer(
        model=model,
        args=arguments,
        processing_class=AutoTokenizer.from_pretrained(job["backbone"]),
        train_dataset=Dataset.from_list(read(job)),
        callbacks=[clock],
    )
    trainer.train()
    return between(*clock.times[2:])


@torch.no_grad()
def every_prefix(job):
    tokenizer = AutoTokenizer.from_pretrained(job["backbone"])
    score = pipeline("token-classification", model=load_model(job), tokenizer=tokenizer, device=job["device"])

    def walk(rows):
        for row in rows:
            for end in range(1, len(row["completions"]) + 1):
                score(SEPARATOR.join((row["prompt"], *row["completions"][:end])) + SEPARATOR)[-1]["entity"]

    rows = read(job)
    return timed(job, lambda: walk(rows[:1]), lambda: walk(rows))


@torch.no_grad()
def padded(job):
    tokenizer = AutoTokenizer.from_pretrained(job["backbone"])
    model = load_model(job).eval()
    separator = tokenizer(SEPARATOR, add_special_tokens=False)["input_ids"]
    rows = read(job)

    def encode(row):
        pieces = tokenizer([row["prompt"], *row["completions"]], add_special_tokens=False)["input_ids"]
        return [token for piece in pieces for token in (*piece, *separator)], [len(piece) for piece in pieces]

    def walk(rows):
        for first in range(0, len(rows), job["batch"]):
            encoded = [encode(row) for row in rows[first : first + job["batch"]]]
            batch = tokenizer.pad({"input_ids": [ids for ids, _ in encoded]}, return_tensors="pt").to(job["device"])
            chances = model(**batch).logits.float().softmax(2)
            for chance, (_, lengths) in zip(chances, encoded, strict=True):
                ends = torch.tensor([length + len(separator) for length in lengths]).cumsum(0)[1:] - 1
                chance[ends.to(chance.device), 1].tolist()

    return timed(job, lambda: walk(rows[: job["batch"]]), lambda: walk(rows))


def load_model(job):
    torch.manual_seed(0)
    dtype = torch.bfloat16 if job["device"] == "cuda" else torch.float32
    model = AutoModelForTokenClassification.from_pretrained(job["backbone"], num_labels=2, dtype=dtype)
    return model.to(job["device"])


def timed(job, warm_up, work):
    warm_up()
    begun = now(job["device"])
    work()
    return between(begun, now(job["device"]))


def now(device):
    """Wall time and processor time, after the device has finished its work."""
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter(), time.process_time()


def between(begun, ended):
    return {"seconds": ended[0] - begun[0], "core_seconds": ended[1] - begun[1]}


def read(job):
    with open(job["rows"]) as file:
        return [json.loads(line) for line in file]


def memory(device):
    """Peak memory of the process, or of the device if one is used, in MB."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated() / 1e6
    with open("/proc/self/status") as status:  # unlike that of getrusage, not inherited from the parent
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmHWM"))


def main():
    job = json.loads(sys.argv[1])
    torch.set_num_threads(job["threads"])
    loaded = memory(job["device"])
    found = {"train": train, "every_prefix": every_prefix, "padded": padded}[job["task"]](job)
    print(json.dumps(found | {"peak_mb": memory(job["device"]), "own_mb": memory(job["device"]) - loaded}))


if __name__ == "__main__":
    main()
