"""Filters of snapshots: which solutions and labels a dataset has."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from django.db.models import Q

from annotation.core.errors import DomainError
from annotation.models import HIDDEN_LANES, Lane
from annotation.models.agreement_rule import AgreementRule
from prm.consensus import CONSENSUS
from prm.errors import UnknownNameError
from prm.faults import fault_of
from prm.formats.record import Consensus, RecordAnnotation
from prm.messages import Message
from prm.vocabulary import FinishReason, SourceKind, Split, Visibility


class SnapshotFilters(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """Filters of a snapshot. An empty list includes everything. Times are ISO 8601; `submitted_to` is exclusive.

    - `guidelines` are version numbers. Labels of unknown version have none of them.
    - `policies` are the models that wrote the solutions. A solution of unknown visibility has none of `visibilities`.
    - `domains` are those of the problems. `text` occurs in the problem or in a step, in upper or lower case.
    - `annotators` are the pseudonyms of members. Labels of other sources have none, so this filter leaves them out.
    - `min_annotations` counts the labels that pass the other filters; 0 includes solutions without labels.
    - `revisions`: the "latest" of each person on a solution, or "all".
    - `set_aside`: whether batches that were set aside are included.
    - `gold`: whether gold solutions are included, with the answers in the lanes gold and screening. Naming one of these
      in `lanes` includes them too.
    - `critiques` that people wrote are left out by default, because their wording could identify the person. So are
      their `comments` on labels, steps and marked text, and their reasons for giving up.
    - `hints`: leaving them out drops every label in the hint arm, whether or not a score was seen. Labels are
      thus dropped at random, not by who looks at hints.
    - `consensus` combines the ratings of a step by their "shares", or by a model that learns each annotator's
      reliability. `fit` is the number of a fit of this model; without one, a fit has seen the labels as they are now.
    - `min_posterior` keeps the solutions whose every rated step has one rating with at least this posterior.
    - `agreement` keeps the solutions on which sources agree, or differ. It uses their latest labels, including those
      that the other filters leave out.
    - `graded` lists up to this many unread solutions of the pool with a right, and as many with a wrong final answer.
      Training learns from their grades. They are listed apart and are in no export.
    - `estimates` adds to that list up to this many unread solutions of the pool with Monte Carlo estimates, and as many
      labelled ones, from which the noise of the estimates is fitted. Listed solutions then have their estimates.
    """

    splits: list[Split] = []
    domains: list[str] = []
    text: Annotated[str, msgspec.Meta(max_length=200)] = ""
    policies: list[str] = []
    visibilities: list[Visibility] = []
    source_kinds: list[SourceKind] = []
    annotators: list[str] = []
    finish_reasons: list[FinishReason] = []
    lanes: list[Lane] = []
    generations: list[int] = []
    guidelines: list[int] = []
    submitted_from: datetime | None = None
    submitted_to: datetime | None = None
    min_annotations: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 1
    revisions: Literal["latest", "all"] = "latest"
    set_aside: Literal["left_out", "included"] = "left_out"
    gold: Literal["left_out", "included"] = "left_out"
    critiques: Literal["left_out", "included"] = "left_out"
    comments: Literal["left_out", "included"] = "left_out"
    hints: Literal["left_out", "included"] = "included"
    consensus: str = "shares"
    fit: Annotated[int, msgspec.Meta(ge=1)] | None = None
    min_posterior: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    agreement: AgreementRule | None = None
    graded: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    estimates: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0

    @property
    def takes_gold(self) -> bool:
        return self.gold == "included" or not {*HIDDEN_LANES}.isdisjoint(self.lanes)

    def take(self, annotation: RecordAnnotation) -> bool:
        """Whether the label passes the filters, whatever its revision."""
        moment = annotation.submitted_at
        return (
            (self.takes_gold or annotation.lane not in HIDDEN_LANES)
            and not (self.hints == "left_out" and annotation.hint is not None and annotation.hint.shown)
            and (not self.source_kinds or annotation.source_kind in self.source_kinds)
            and (not self.annotators or annotation.annotator in self.annotators)
            and (not self.finish_reasons or annotation.finish_reason in self.finish_reasons)
            and (not self.lanes or annotation.lane in self.lanes)
            and (not self.generations or annotation.generation in self.generations)
            and (not self.guidelines or annotation.guidelines in self.guidelines)
            and (self.submitted_from is None or (moment is not None and moment >= self.submitted_from))
            and (self.submitted_to is None or (moment is not None and moment < self.submitted_to))
        )

    def are_sure(self, consensus: Iterable[Consensus]) -> bool:
        """Whether each step's most probable rating has at least the minimum posterior."""
        return not self.min_posterior or all(
            max(step.good, step.neutral, step.bad) >= self.min_posterior for step in consensus
        )


def parse_filters(body: dict[str, Any]) -> SnapshotFilters:
    """The filters in a JSON object. A time without a zone is in UTC; a date is its midnight.

    Raises DomainError (`invalid_filters`), which names the field.
    """
    times = {name: _moment(body[name]) for name in ("submitted_from", "submitted_to") if name in body}
    try:
        filters = msgspec.convert(body | times, SnapshotFilters)
        CONSENSUS.check(filters.consensus)
        return filters
    except UnknownNameError as error:
        raise DomainError(error.args[0], {"field": "consensus"}, code="invalid_filters") from None
    except msgspec.ValidationError as error:
        field, reason = fault_of(error, SnapshotFilters)
        fault = Message("field_reason", field=field, reason=reason) if field else reason
        raise DomainError(Message("invalid_filters", fault=fault), {"field": field}) from None


def may_pass(filters: SnapshotFilters) -> Q:
    """The condition of a label in the database that every label meets which `SnapshotFilters.take` accepts."""
    wanted = {
        "source__kind__in": filters.source_kinds,
        "annotator__pseudonym__in": list(_pseudonyms(filters.annotators)),
        "finish_reason__in": filters.finish_reasons,
        "lane__in": filters.lanes,
        "submitted_at__gte": filters.submitted_from,
        "submitted_at__lt": filters.submitted_to,
    }
    condition = Q(**{lookup: value for lookup, value in wanted.items() if value})
    if numbers := filters.generations:
        condition &= Q(item__generation__number__in=numbers) | Q(stated__generation__in=numbers)
    if numbers := filters.guidelines:
        condition &= Q(guidelines__number__in=numbers) | Q(stated__guidelines__in=numbers)
    return condition


def describe_filters(filters: Mapping[str, Any]) -> list[str]:
    """A phrase for each stored filter; empty without filters."""
    return [f"{name.replace('_', ' ')}: {_describe_value(value)}" for name, value in filters.items()]


def _pseudonyms(names: Collection[str]) -> Iterator[UUID]:
    """The names that can be a member's pseudonym."""
    for name in names:
        with suppress(ValueError):
            yield UUID(name)


def _describe_value(value: Any) -> str:
    if isinstance(value, dict):
        return str(msgspec.convert(value, AgreementRule))
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _moment(value: Any) -> Any:
    """The time that a text states. Other values are returned unchanged, so that the conversion rejects their field."""
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return value
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
