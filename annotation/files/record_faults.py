"""Checks records before they are stored."""

from prm.formats.record import Completion, PathPosition, Record, RecordAnnotation
from prm.messages import Message
from prm.vocabulary import RATINGS

MAX_POSITIONS = 10_000
LENGTHS = {"source_group": 200, "domain": 100, "external_id": 200, "generator": 200}
MAX_SOURCE_NAME = 200
MAX_MS = 2**62
MAX_REVISION = 1_000_000


def fault_of(record: Record) -> tuple[str, Message] | None:
    """The field and the reason for which a record must be rejected; None if it is valid."""
    if fault := problem_fault(record):
        return fault
    if not any(record.positions):
        return "steps", Message("no_steps")
    if len(record.positions) > MAX_POSITIONS:
        return "steps", Message("too_many_steps", n=len(record.positions), most=MAX_POSITIONS)
    if not any(step.text.strip() for at in record.positions for step in at):
        return "steps", Message("no_step_with_text")
    for number, annotation in enumerate(record.annotations):
        fault = _annotation_fault(record, annotation)
        if fault:
            return f"annotations[{number}].{fault[0]}", fault[1]
    return None


def problem_fault(record: Record) -> tuple[str, Message] | None:
    """As `fault_of`, without the steps and the labels."""
    if not record.problem.strip():
        return "problem", Message("text_empty")
    for field, longest in LENGTHS.items():
        if len(getattr(record, field)) > longest:
            return field, Message("text_too_long", n=longest)
    return None


def empty_steps(record: Record) -> list[int]:
    """The positions whose sampled completions are all blank."""
    return [number for number, at in enumerate(record.positions) if _is_blank(at)]


def _is_blank(at: list[Completion]) -> bool:
    is_sampled = False
    for step in at:
        if not step.added:
            if step.text.strip():
                return False
            is_sampled = True
    return is_sampled


def _annotation_fault(record: Record, annotation: RecordAnnotation) -> tuple[str, Message] | None:
    if len(annotation.source_name) > MAX_SOURCE_NAME:
        return "source_name", Message("text_too_long", n=MAX_SOURCE_NAME)
    if len(annotation.annotator or "") > MAX_SOURCE_NAME:
        return "annotator", Message("text_too_long", n=MAX_SOURCE_NAME)
    if annotation.revision is not None and annotation.revision > MAX_REVISION:
        return "revision", Message("number_too_high", n=annotation.revision, most=MAX_REVISION)
    if annotation.total_ms is not None and not 0 <= annotation.total_ms < MAX_MS:
        return "total_ms", Message("milliseconds_negative", n=annotation.total_ms)
    if annotation.first_error is not None and not -1 <= annotation.first_error < len(record.positions):
        return "first_error", Message(
            "first_error_position_invalid", n=annotation.first_error, last=len(record.positions) - 1
        )
    places = [place.position for place in annotation.path]
    if len(set(places)) < len(places):
        return "path", Message("position_repeated")
    for place in annotation.path:
        fault = _place_fault(record, place)
        if fault:
            return f"path[{place.position}]", fault
    return None


def _place_fault(record: Record, place: PathPosition) -> Message | None:
    """The fault at a position of a path. Completions are named by index; after the last step, only an own step fits."""
    if not 0 <= place.position < MAX_POSITIONS:
        return Message("position_out_of_range", last=MAX_POSITIONS - 1)
    at = record.positions[place.position] if place.position < len(record.positions) else []
    named = [rating.alternative for rating in place.ratings]
    if len(set(named)) < len(named):
        return Message("two_ratings_for_completion")
    if any(
        not 0 <= alternative < len(at) for alternative in [*named, *([] if place.chosen is None else [place.chosen])]
    ):
        return Message("completion_index_invalid", completions=Message("n_completions", n=len(at)))
    if place.chosen is not None and place.own_text is not None:
        return Message("completion_and_own_step")
    if any((rating.state == "rated") != (rating.rating in RATINGS) for rating in place.ratings):
        return Message("rating_invalid_for_state")
    if any(rating.accepted and rating.rating != 1 for rating in place.ratings):
        return Message("accepted_without_good_rating")
    if place.dwell_ms is not None and not 0 <= place.dwell_ms < MAX_MS:
        return Message("milliseconds_negative", n=place.dwell_ms)
    return None
