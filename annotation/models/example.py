from typing import Annotated

import msgspec

from annotation.core.bounds import about
from prm.vocabulary import Word

Text = Annotated[str, msgspec.Meta(max_length=4000)]
MOST_EXAMPLES = 40


class Example(msgspec.Struct, forbid_unknown_fields=True):
    """A step with its correct `rating`, shown with the guidelines: `before` is the preceding text, `why` the reason.

    Texts have the markup of steps: Markdown with formulas.
    """

    rating: Annotated[Word, about("The correct rating.")]
    step: Annotated[str, msgspec.Meta(min_length=1, max_length=4000, pattern=r"\S"), about("The step.")]
    before: Annotated[Text, about("The preceding text.")] = ""
    why: Annotated[Text, about("The reason for the rating.")] = ""


Examples = Annotated[list[Example], msgspec.Meta(max_length=MOST_EXAMPLES)]


def parse_examples(value: object) -> list[Example]:
    """The examples in a JSON value. Raises msgspec.ValidationError, which names the field."""
    examples: list[Example] = msgspec.convert(value, type=Examples)
    return examples
