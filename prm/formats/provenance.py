"""What made a solution, and how much of it is shown: kept with the solution, in records, and in snapshots."""

from typing import Annotated, Any

import msgspec

from prm.vocabulary import Visibility

LONGEST_PROMPT = 100_000
_Name = Annotated[str, msgspec.Meta(max_length=200)]
_Text = Annotated[str, msgspec.Meta(max_length=LONGEST_PROMPT)]


class Provenance(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, frozen=True):
    """How to sample it again; what is not known is left out.

    `policy` is the model, exactly enough to find it again: its revision or checkpoint belongs to it. `prompt` and
    `scaffold` are the template, and the tools and the loop around the model, as texts or as names. `run` names the
    sampling, search or RL run. `settings` has what else the sampler was told, such as `top_p` and `max_tokens`.
    `visibility` says whether the steps are the model's own words (`raw`), another's `summary` of them, or `redacted`.
    """

    policy: _Name = ""
    temperature: Annotated[float, msgspec.Meta(ge=0)] | None = None
    seed: int | None = None
    prompt: _Text = ""
    scaffold: _Text = ""
    visibility: Visibility | None = None
    run: _Name = ""
    settings: dict[str, Any] = {}
