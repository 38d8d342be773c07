"""What a file's reader gives, made ready to be stored: texts split into steps, faults found."""

from annotation.formats.raw import EXCERPT
from annotation.formats.record import Completion, Record, Rejection
from annotation.intake.checks import fault_of
from annotation.intake.decomposition import decompose


def prepared(line: int, item: Record | Rejection, decomposition: str) -> Record | Rejection:
    """The record with its steps, or why it cannot be taken."""
    if isinstance(item, Rejection):
        return item
    if item.solution_text is not None:
        steps = decompose(item.solution_text, decomposition)
        item.positions, item.solution_text = [[Completion(step)] for step in steps], None
    if fault := fault_of(item):
        field, reason = fault
        return Rejection(line=line, field=field, reason=reason, excerpt=item.problem[:EXCERPT])
    return item
