"""Keeping the solutions on which sources of labels agree, or those on which they differ."""

from typing import Annotated, Literal

import msgspec

from prm.messages import Message
from prm.vocabulary import SOURCE_KINDS, Split

AgreeOn = Literal["first_error", "within_one", "presence"]


class AgreementRule(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """Each of `sources` is a kind, "monte_carlo", or one source of a kind, "model_judge:name".

    They agree where they name the same first error, ones at most one step apart, or both name one or none at all
    (`presence`). Of a solution on which one of them is silent nothing is known: it is kept only where `silent` says
    so. The rule looks at `splits` alone, all of them where there is none; the others are kept.
    """

    sources: Annotated[list[str], msgspec.Meta(min_length=2)]
    on: AgreeOn = "first_error"
    keep: Literal["agreeing", "differing"] = "agreeing"
    silent: Literal["dropped", "kept"] = "dropped"
    splits: list[Split] = []

    def __post_init__(self) -> None:
        for source in self.sources:
            if source.partition(":")[0] not in SOURCE_KINDS:
                known = ", ".join(SOURCE_KINDS)
                raise ValueError(Message("word_not_among_known", word=source, known=known))
        if len(set(self.sources)) < len(self.sources):
            raise ValueError(Message("source_repeated"))

    def __str__(self) -> str:
        words = {
            "first_error": "the first error",
            "within_one": "the first error, within one step",
            "presence": "whether there is an error",
        }
        return f"{' and '.join(self.sources)} {'agree' if self.keep == 'agreeing' else 'differ'} on {words[self.on]}"
