"""How a step becomes text for a backbone: the one rule shared by pretraining, training and scoring."""

from prm.traces import Step


def render_step(step: Step) -> str:
    """The step's text, led by its kind in brackets unless it is plain reasoning: "[tool_call] search(...)"."""
    return step.text if step.kind == "reasoning" else f"[{step.kind}] {step.text}"
