"""Prompts of other PRMs' clients are read as problem and steps, one step a tag."""

import pytest

from annotation.files.step_tags import read_prompt

QWEN = (
    "<|im_start|>system\nPlease reason step by step.<|im_end|>\n<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n"
    "<|im_start|>assistant\nWe add.<extra_0>\n2 + 2 = 4.<extra_0><|im_end|><|endoftext|>"
)
LLAMA = (
    "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nWhat is 2 + 2?<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\nWe add.\n\n2 + 2 = 4.<|eot_id|>"
)
SHEPHERD = "What is 2 + 2? Step 1: We add. ки\nStep 2: 2 + 2 = 4. ки"


@pytest.mark.parametrize(
    ("prompt", "steps"),
    [
        (QWEN, ["We add.", "2 + 2 = 4."]),
        (LLAMA, ["We add.", "2 + 2 = 4."]),
        (SHEPHERD, ["Step 1: We add.", "Step 2: 2 + 2 = 4."]),
        ("What is 2 + 2?\n\nWe add.\n\n2 + 2 = 4.", ["We add.", "2 + 2 = 4."]),
    ],
)
def test_a_prompt_is_read_as_its_template_says(prompt, steps):
    assert read_prompt(prompt) == ("What is 2 + 2?", steps)


def test_there_is_one_step_a_tag_whatever_stands_between():
    _, steps = read_prompt("Q\n\na<extra_0><extra_0>b<extra_0>not ended")
    assert steps == ["a", "(empty step)", "b"]


@pytest.mark.parametrize("prompt", ["all in one line", "<|im_start|>user\nWhat?<|im_end|>"])
def test_what_cannot_be_told_apart_is_refused(prompt):
    with pytest.raises(ValueError, match=r"."):
        read_prompt(prompt)
