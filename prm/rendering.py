"""How a step becomes text for a backbone: the one rule shared by pretraining, training and scoring."""

import re

from prm.traces import Step

# What an image holds says nothing to a model of text, and would fill its context.
IMAGE_DATA = re.compile(r"(!\[[^\]\n]*\]\(data:image/[\w.+-]+);base64,[^)\s]*\)")
LED_BY_KIND = re.compile(r"\[(plan|tool_call|observation|edit|answer)\] ")


def render_step(step: Step) -> str:
    """The step's text, led by its kind in brackets unless it is plain reasoning: "[tool_call] search(...)".

    Of an image that the text holds as data, its type is left.
    """
    text = IMAGE_DATA.sub(r"\1)", step.text) if "](data:" in step.text else step.text
    return text if step.kind == "reasoning" else f"[{step.kind}] {text}"


def parse_step(text: str) -> Step:
    """The step that `render_step` turned into this text."""
    kind = LED_BY_KIND.match(text)
    return Step(text[kind.end() :], kind[1]) if kind else Step(text)
