"""Prompts for process reward models as their clients write them: one text, a tag behind each step.

Qwen's PRMs mark the end of a step by `<extra_0>` inside a chat template, Math-Shepherd by `ки` behind
"Step 1: ..." lines. Read are ChatML (`<|im_start|>user`), Llama 3 (`<|start_header_id|>user<|end_header_id|>`) and
plain text, where the problem ends at the first "Step 1", else at the first blank line.
"""

import re

from prm.messages import Message
from prm.splitting import Splitting

TAGS = ("<extra_0>", "ки", "<step>")
_TURNS = (
    re.compile(r"<\|im_start\|>(?P<role>\w+)\s*\n(?P<said>.*?)(?=<\|im_end\|>|<\|im_start\|>|\Z)", re.DOTALL),
    re.compile(
        r"<\|start_header_id\|>(?P<role>\w+)<\|end_header_id\|>\s*(?P<said>.*?)(?=<\|eot_id\|>|<\|start_header_id|\Z)",
        re.DOTALL,
    ),
)
_FIRST_STEP = re.compile(r"\s*(?=\bstep\s+1\b)|\n[ \t\r]*\n\s*", re.IGNORECASE)
EMPTY = "(empty step)"
UNTAGGED = Splitting("blank_lines", "drop")


def read_prompt(text: str) -> tuple[str, list[str]]:
    """Problem and steps of a prompt; raises ValueError with the reason."""
    for template in _TURNS:
        turns = [(turn["role"], turn["said"].strip()) for turn in template.finditer(text)]
        if turns:
            return of_turns(turns)
    parts = _FIRST_STEP.split(text, maxsplit=1)
    if len(parts) < 2 or not parts[0].strip():
        raise ValueError(Message("problem_end_unclear"))
    return parts[0].strip(), tagged_steps(parts[1])


def of_turns(turns: list[tuple[str, str]]) -> tuple[str, list[str]]:
    """Problem and steps of a chat: what the user asks, and the assistant's answer. Raises ValueError."""
    questions = [words for role, words in turns if role == "user"]
    answered = [words for role, words in turns if role == "assistant" and words]
    if len(questions) != 1 or len(answered) != 1:
        raise ValueError(Message("prompt_messages_invalid"))
    return questions[0], tagged_steps(answered[0])


def tagged_steps(answer: str) -> list[str]:
    """One step a tag, in order; text behind the last tag is not a step. Without tags, blank lines separate steps, and
    hidden reasoning is left out."""
    for tag in TAGS:
        if tag in answer:
            return [piece.strip() or EMPTY for piece in answer.split(tag)[:-1]]
    return UNTAGGED.split(answer).steps
