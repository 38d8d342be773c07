"""What a file's reader gives, made ready to be stored: texts split into steps, faults found."""

from annotation.formats.raw import EXCERPT
from annotation.formats.record import Completion, Record, Rejection
from annotation.intake.checks import empty_steps, fault_of
from annotation.intake.decomposition import decompose
from annotation.intake.labels import is_unnamed
from annotation.intake.splits import group_of_text
from annotation.models import ImportOptions
from annotation.wording import Said, said

_DEFAULT = ImportOptions()


def prepared(
    line: int, item: Record | Rejection, decomposition: str, options: ImportOptions = _DEFAULT
) -> Record | Rejection:
    """The record with its steps, by the options of the import, or why it cannot be taken."""
    if isinstance(item, Rejection):
        return item
    if item.solution_text is not None:
        steps = decompose(item.solution_text, decomposition)
        item.positions, item.solution_text = [[Completion(step)] for step in steps], None
    for label in item.annotations:
        if options.labelled_by != "file":
            label.source_kind = options.labelled_by
        if options.annotator and is_unnamed(label.source_name):
            label.source_name = options.annotator
    if options.source_groups == "text" and not item.source_group:
        item.source_group = group_of_text(item.problem)
    if fault := fault_of(item) or _refused(item, options):
        field, reason = fault
        return Rejection(line=line, field=field, reason=reason, excerpt=item.problem[:EXCERPT])
    return item


def _refused(record: Record, options: ImportOptions) -> tuple[str, Said] | None:
    empty = empty_steps(record) if options.empty_steps == "refuse" else []
    return (f"steps[{empty[0]}]", said("Expected a text, got an empty step")) if empty else None
