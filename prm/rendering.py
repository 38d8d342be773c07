"""How a step becomes text for a backbone: the one rule shared by pretraining, training and scoring."""

import re

from prm.traces import Step

LED_BY_KIND = re.compile(r"\[(plan|tool_call|observation|edit|answer)\] ")


def render_step(step: Step) -> str:
    """The step's text, led by its kind in brackets unless it is plain reasoning: "[tool_call] search(...)"."""
    return step.text if step.kind == "reasoning" else f"[{step.kind}] {step.text}"


def parse_step(text: str) -> Step:
    """The step that `render_step` turned into this text."""
    kind = LED_BY_KIND.match(text)
    return Step(text[kind.end() :], kind[1]) if kind else Step(text)
