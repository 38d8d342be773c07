"""A rule that keeps the solutions on which label sources agree, or those on which they differ."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from annotation.core.bounds import about
from prm.messages import Message
from prm.vocabulary import SOURCE_KINDS, Split

AgreeOn = Literal["first_error", "within_one", "presence"]


class AgreementRule(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """Which solutions to keep. Each of `sources` is a kind ("monte_carlo") or a source of a kind ("model_judge:name").

    Sources agree if they have the same first error (`first_error`), one at most one step apart (`within_one`), or the
    same answer to whether there is an error (`presence`). `silent` decides on solutions that a source has not labelled.
    The rule applies to `splits`, or to all of them if the list is empty; solutions of other splits are kept.
    """

    sources: Annotated[list[str], Meta(min_length=2, description="Kinds of sources, or single sources of a kind.")]
    on: Annotated[AgreeOn, about("What they must agree on.")] = "first_error"
    keep: Annotated[Literal["agreeing", "differing"], about("Which solutions are kept.")] = "agreeing"
    silent: Annotated[Literal["dropped", "kept"], about("Solutions that a source has not labelled.")] = "dropped"
    splits: Annotated[list[Split], about("Splits that the rule applies to; empty for all.")] = []

    def __post_init__(self) -> None:
        for source in self.sources:
            if source.partition(":")[0] not in SOURCE_KINDS:
                known = ", ".join(SOURCE_KINDS)
                raise ValueError(Message("word_not_among_known", word=source, known=known))
        if len(set(self.sources)) < len(self.sources):
            raise ValueError(Message("source_repeated"))

    def __str__(self) -> str:
        criteria = {
            "first_error": "the first error",
            "within_one": "the first error, within one step",
            "presence": "whether there is an error",
        }
        return f"{' and '.join(self.sources)} {'agree' if self.keep == 'agreeing' else 'differ'} on {criteria[self.on]}"
