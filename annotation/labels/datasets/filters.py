"""Which labels a dataset holds."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec

from annotation.core.errors import DomainError
from annotation.models import HIDDEN_LANES, Lane
from annotation.models.agreement_rule import AgreementRule
from prm.consensus import CONSENSUS
from prm.errors import UnknownNameError
from prm.faults import fault_of
from prm.formats.record import RecordAnnotation
from prm.messages import Message
from prm.vocabulary import FinishReason, SourceKind, Split, Visibility


class SnapshotFilters(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """An empty list asks for everything. Times are ISO 8601; `submitted_to` itself is left out.

    `policies` names the models that wrote; a solution of unknown visibility is of none of the `visibilities`.
    `min_annotations` counts what the other filters leave; 0 takes solutions without labels too.
    `revisions` is "latest" for each person's last word on a solution, "all" for the earlier ones too. Batches that are
    set aside are left out unless `set_aside` is "included". So are gold solutions, and what people answered in the
    gold and screening lanes, unless `gold` is, or `lanes` names one of these. `critiques` are those that people wrote,
    in words that could tell who they are. `hints` are labels that were drawn to be made with a model's scores in sight,
    looked at or not, so that chance decides what is left out and nobody's habits do. `consensus` says how the words on
    a step are put together: by their "shares", or weighed by each giver's "reliability". `agreement` keeps the
    solutions on which sources agree, or differ, by all that they said last: also by labels that the other filters leave
    out.
    """

    splits: list[Split] = []
    policies: list[str] = []
    visibilities: list[Visibility] = []
    source_kinds: list[SourceKind] = []
    finish_reasons: list[FinishReason] = []
    lanes: list[Lane] = []
    generations: list[int] = []
    submitted_from: datetime | None = None
    submitted_to: datetime | None = None
    min_annotations: Annotated[int, msgspec.Meta(ge=0)] = 1
    revisions: Literal["latest", "all"] = "latest"
    set_aside: Literal["left_out", "included"] = "left_out"
    gold: Literal["left_out", "included"] = "left_out"
    critiques: Literal["left_out", "included"] = "left_out"
    hints: Literal["left_out", "included"] = "included"
    consensus: str = "shares"
    agreement: AgreementRule | None = None

    @property
    def takes_gold(self) -> bool:
        return self.gold == "included" or not {*HIDDEN_LANES}.isdisjoint(self.lanes)

    def take(self, annotation: RecordAnnotation) -> bool:
        """Whether the label passes the filters, whatever its revision."""
        wanted: list[tuple[Collection[Any], Any]] = [
            (self.source_kinds, annotation.source_kind),
            (self.finish_reasons, annotation.finish_reason),
            (self.lanes, annotation.lane),
            (self.generations, annotation.generation),
        ]
        moment = annotation.submitted_at
        return (
            (self.takes_gold or annotation.lane not in HIDDEN_LANES)
            and not (self.hints == "left_out" and annotation.hint is not None and annotation.hint.shown)
            and all(not allowed or value in allowed for allowed, value in wanted)
            and (self.submitted_from is None or (moment is not None and moment >= self.submitted_from))
            and (self.submitted_to is None or (moment is not None and moment < self.submitted_to))
        )


def parse_filters(body: dict[str, Any]) -> SnapshotFilters:
    """Raises DomainError (`invalid_filters`) naming the field; a time without a zone is UTC, a day its first moment."""
    times = {name: _moment(body[name]) for name in ("submitted_from", "submitted_to") if name in body}
    try:
        filters = msgspec.convert(body | times, SnapshotFilters)
        CONSENSUS.check(filters.consensus)
        return filters
    except UnknownNameError as error:
        raise DomainError(error.args[0], {"field": "consensus"}, code="invalid_filters") from None
    except msgspec.ValidationError as error:
        field, reason = fault_of(error)
        fault = Message("field_reason", field=field, reason=reason) if field else reason
        raise DomainError(Message("invalid_filters", fault=fault), {"field": field}) from None


def describe_filters(filters: Mapping[str, Any]) -> list[str]:
    """One phrase per stored filter; empty for no filters."""
    return [f"{name.replace('_', ' ')}: {_describe_value(value)}" for name, value in filters.items()]


def _describe_value(value: Any) -> str:
    if isinstance(value, dict):
        return str(msgspec.convert(value, AgreementRule))
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _moment(value: Any) -> Any:
    """Parse a time; text that is not one stays as it is, so that the conversion rejects it with its field."""
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return value
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
