"""The YAML header of a dataset card, which the Hugging Face Hub reads."""

from typing import Any

import msgspec

from annotation.models import Snapshot

SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
)
LARGEST = "100M<n<1B"
TASKS = ["text-classification"]  # of each step; the Hub has no task of its own for it
TAGS = ["process-reward-model", "reasoning", "step-labels", "stepmark"]


def card_header(snapshot: Snapshot) -> str:
    """The header with its marks. A licence and languages that the project does not state are left out."""
    stated, solutions = snapshot.project.policies.card, snapshot.counts["solutions"]
    fields: dict[str, Any] = {
        "pretty_name": f"{snapshot.project.name}: labelled reasoning steps",
        "license": stated.licence,
        "language": stated.languages,
        "task_categories": TASKS,
        "size_categories": [next((size for least, size in SIZES if solutions < least), LARGEST)],
        "tags": TAGS,
    }
    # A JSON value is also a YAML value, except for characters that do not print.
    lines = [f"{name}: {_printable(msgspec.json.encode(value).decode())}" for name, value in fields.items() if value]
    return "\n".join(["---", *lines, "---"])


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())
