"""Reads prompts for process reward models as their clients write them: one text with a tag after each step.

Qwen's PRMs mark the end of a step by `<extra_0>` in a chat template, Math-Shepherd by `ки` after "Step 1: ..." lines.
The templates are ChatML (`<|im_start|>user`), Llama 3 (`<|start_header_id|>user<|end_header_id|>`) and plain text, in
which the problem ends at the first "Step 1", else at the first blank line.
"""

import re

from prm.messages import Message
from prm.splitting import Splitting

TAGS = ("<extra_0>", "ки", "<step>")
_TURNS = (
    re.compile(r"<\|im_start\|>(?P<role>\w+)\s*\n(?P<content>.*?)(?=<\|im_end\|>|<\|im_start\|>|\Z)", re.DOTALL),
    re.compile(
        r"<\|start_header_id\|>(?P<role>\w+)<\|end_header_id\|>\s*(?P<content>.*?)(?=<\|eot_id\|>|<\|start_header_id|\Z)",
        re.DOTALL,
    ),
)
_FIRST_STEP = re.compile(r"\s*(?=\bstep\s+1\b)|\n[ \t\r]*\n\s*", re.IGNORECASE)
EMPTY = "(empty step)"
UNTAGGED = Splitting("blank_lines", "drop")


def read_prompt(text: str) -> tuple[str, list[str]]:
    """The problem and the steps of a prompt. Raises ValueError with the reason."""
    for template in _TURNS:
        turns = [(turn["role"], turn["content"].strip()) for turn in template.finditer(text)]
        if turns:
            return of_turns(turns)
    parts = _FIRST_STEP.split(text, maxsplit=1)
    if len(parts) < 2 or not parts[0].strip():
        raise ValueError(Message("problem_end_unclear"))
    return parts[0].strip(), tagged_steps(parts[1])


def of_turns(turns: list[tuple[str, str]]) -> tuple[str, list[str]]:
    """The problem and the steps of a chat: the user's question and the assistant's answer. Raises ValueError."""
    questions = [content for role, content in turns if role == "user"]
    answers = [content for role, content in turns if role == "assistant" and content]
    if len(questions) != 1 or len(answers) != 1:
        raise ValueError(Message("prompt_messages_invalid"))
    return questions[0], tagged_steps(answers[0])


def tagged_steps(answer: str) -> list[str]:
    """The steps of an answer, one per tag; text after the last tag is not a step.

    Without tags, blank lines separate the steps, and hidden reasoning is left out.
    """
    for tag in TAGS:
        if tag in answer:
            return [piece.strip() or EMPTY for piece in answer.split(tag)[:-1]]
    return UNTAGGED.split(answer).steps
