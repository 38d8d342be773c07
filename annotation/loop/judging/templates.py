"""The prompts of judges. A changed text of a file is a new version: a new file, named in `TEMPLATES`."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from prm.messages import Message

PROBLEM, STEPS = "{problem}", "{steps}"
PROMPTS = Path(__file__).parent / "prompts"
HASH_LENGTH = 12


@dataclass(frozen=True)
class Template:
    """A kind of question. `reminder` says how to reply, after a reply that could not be read."""

    name: str
    version: int
    reminder: str

    @property
    def text(self) -> str:
        return _read(f"{self.name}.{self.version}.txt")

    def version_of(self, prompt: str) -> str:
        """The name of the version of a prompt: the template's number, or a hash of another text."""
        number = self.version if prompt == self.text else hashlib.sha256(prompt.encode()).hexdigest()[:HASH_LENGTH]
        return f"{self.name}/{number}"


TEMPLATES = {
    template.name: template
    for template in (
        Template(
            "first_error",
            1,
            "Reply with the number of the first wrong step in \\boxed{} and nothing else. The steps are numbered from "
            "0 to {last}; \\boxed{-1} means that no step is wrong.",
        ),
        Template(
            "every_step",
            1,
            'Reply with one JSON object {"ratings": [...]} and nothing else: exactly {count} numbers, each {allowed}.',
        ),
        Template(
            "critic",
            1,
            'Reply with one JSON object {"steps": [...]} and nothing else: one entry for each step from 0 to {last}, '
            'with "step", "rating" ({allowed}) and, if the rating is -1, "reason".',
        ),
    )
}


def fill(prompt: str, problem: str, steps: Sequence[str]) -> str:
    """The judge's message: the prompt with the problem and the steps, which are tagged with their numbers from 0."""
    tagged = "\n".join(f"<step_{number}>\n{text}\n</step_{number}>" for number, text in enumerate(steps))
    # In one pass, because the problem may contain "{steps}".
    before, _, after = prompt.partition(STEPS)
    return before.replace(PROBLEM, problem) + tagged + after.replace(PROBLEM, problem)


def remind(template: Template, fault: Message, steps: int, *, neutral: bool) -> str:
    """The paragraph that a second attempt adds to the message."""
    values = {"{last}": str(steps - 1), "{count}": str(steps), "{allowed}": "1, 0 or -1" if neutral else "1 or -1"}
    text = template.reminder
    for place, value in values.items():
        text = text.replace(place, value)
    return f"An earlier reply could not be used: {fault} {text}"


@cache
def _read(name: str) -> str:
    return (PROMPTS / name).read_text()
