"""The checks that a record must pass before it is stored."""

from annotation.core.wording import Said, counted, said
from prm.formats.record import PathPosition, Record, RecordAnnotation
from prm.vocabulary import RATINGS

MAX_POSITIONS = 10_000
LENGTHS = {"source_group": 200, "domain": 100, "external_id": 200, "generator": 200}
MAX_SOURCE_NAME = 200
MAX_MS = 2**62


def fault_of(record: Record) -> tuple[str, Said] | None:
    """Field and reason for which a record cannot be taken; None if it can."""
    if not record.problem.strip():
        return "problem", said("is empty")
    for field, longest in LENGTHS.items():
        if len(getattr(record, field)) > longest:
            return field, said("is longer than {n} characters", n=longest)
    if not any(record.positions):
        return "steps", said("Expected at least one step, got none")
    if len(record.positions) > MAX_POSITIONS:
        return "steps", said("Expected at most {most} steps, got {n}", n=len(record.positions), most=MAX_POSITIONS)
    if not any(step.text.strip() for at in record.positions for step in at):
        return "steps", said("Expected at least one step with text, got none")
    for number, annotation in enumerate(record.annotations):
        fault = _annotation_fault(record, annotation)
        if fault:
            return f"annotations[{number}].{fault[0]}", fault[1]
    return None


def empty_steps(record: Record) -> list[int]:
    """The positions whose sampled completions are all blank."""
    sampled = ([step.text for step in at if not step.added] for at in record.positions)
    return [number for number, texts in enumerate(sampled) if texts and not any(text.strip() for text in texts)]


def _annotation_fault(record: Record, annotation: RecordAnnotation) -> tuple[str, Said] | None:
    if len(annotation.source_name) > MAX_SOURCE_NAME:
        return "source_name", said("is longer than {n} characters", n=MAX_SOURCE_NAME)
    if annotation.total_ms is not None and not 0 <= annotation.total_ms < MAX_MS:
        return "total_ms", said("Expected milliseconds from 0 on, got {n}", n=annotation.total_ms)
    if annotation.first_error is not None and not -1 <= annotation.first_error < len(record.positions):
        return "first_error", said(
            "Expected a position from 0 to {last}, or -1, got {n}",
            n=annotation.first_error,
            last=len(record.positions) - 1,
        )
    places = [place.position for place in annotation.path]
    if len(set(places)) < len(places):
        return "path", said("Expected each position once, got one twice")
    for place in annotation.path:
        fault = _place_fault(record, place)
        if fault:
            return f"path[{place.position}]", fault
    return None


def _place_fault(record: Record, place: PathPosition) -> Said | None:
    """Completions are named by their index; a position behind the last step can only hold an own step."""
    if not 0 <= place.position < MAX_POSITIONS:
        return said("Expected a position from 0 to {last}", last=MAX_POSITIONS - 1)
    at = record.positions[place.position] if place.position < len(record.positions) else []
    named = [rating.alternative for rating in place.ratings]
    if len(set(named)) < len(named):
        return said("Expected one rating for each completion, got two")
    if any(
        not 0 <= alternative < len(at) for alternative in [*named, *([] if place.chosen is None else [place.chosen])]
    ):
        return said(
            "Expected the index of one of {completions}, got another",
            completions=counted("{n} completion", "{n} completions", n=len(at)),
        )
    if place.chosen is not None and place.own_text is not None:
        return said("Expected a chosen completion or an own step, got both")
    if any((rating.state == "rated") != (rating.rating in RATINGS) for rating in place.ratings):
        return said("Expected 1, 0 or -1 for a rated step, and null for any other")
    if any(rating.accepted and rating.rating != 1 for rating in place.ratings):
        return said("`accepted` may only be true for a step rated 1")
    if place.dwell_ms is not None and not 0 <= place.dwell_ms < MAX_MS:
        return said("Expected milliseconds from 0 on, got {n}", n=place.dwell_ms)
    return None
