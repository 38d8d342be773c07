"""Prepares records for storage: splits texts into steps and checks for faults."""

from typing import cast

import msgspec

from annotation.core.errors import DomainError
from annotation.files.identity import group_of_text
from annotation.files.record_faults import empty_steps, fault_of, problem_fault
from annotation.files.record_labels import names_nobody
from annotation.models import ImportOptions
from prm.formats.label_lines import LooseLabel
from prm.formats.raw import EXCERPT
from prm.formats.record import Completion, Provenance, Record, Rejection
from prm.messages import Message
from prm.splitting import RULES, Splitting, Thinking
from prm.splitting import THINKING as THINKING_CHOICES
from prm.vocabulary import PEOPLE

THINKING = "thinking"  # the key of a solution's hidden reasoning in `extra`, and of its treatment in its provenance
_DEFAULT = ImportOptions()


def splitting_of(decomposition: str, thinking: str) -> Splitting:
    """The way to split texts. Raises DomainError (`unknown_decomposition`), which names the choices."""
    for value, known in ((decomposition, tuple(RULES)), (thinking, THINKING_CHOICES)):
        if value not in known:
            choices = ", ".join(known)
            raise DomainError(Message("unknown_decomposition", value=value, choices=choices))
    return Splitting(decomposition, cast(Thinking, thinking))


def prepare_record(
    line: int, item: Record | Rejection, splitting: Splitting, options: ImportOptions = _DEFAULT
) -> Record | Rejection:
    """The record with its steps, prepared by the options of the import, or a rejection with the reason.

    A loose label is checked when it is joined to its solution.
    """
    if isinstance(item, Rejection):
        return item
    if item.solution_text is not None and (reason := _split(item, item.solution_text, splitting)):
        return Rejection(line=line, field="solution", reason=reason, excerpt=item.problem[:EXCERPT])
    for label in item.annotations:
        # A machine's kind, which only the record itself can state, is never overridden.
        if options.labelled_by != "file" and label.source_kind in PEOPLE:
            label.source_kind = options.labelled_by
        if options.annotator and names_nobody(label):
            label.source_name = options.annotator
    if isinstance(item, LooseLabel):
        return item
    if options.source_groups == "text" and not item.source_group:
        item.source_group = group_of_text(item.problem)
    if item.is_problem_only:
        fault = (
            problem_fault(item) if options.no_solution == "keep" else ("steps", Message("neither_steps_nor_solution"))
        )
    else:
        fault = fault_of(item) or _refused(item, options)
    if fault:
        field, reason = fault
        return Rejection(line=line, field=field, reason=reason, excerpt=item.problem[:EXCERPT])
    return item


def _split(record: Record, text: str, splitting: Splitting) -> str:
    """Split the record into steps and store its hidden reasoning; returns a reason if there is nothing else."""
    split = splitting.split(text)
    steps = zip(split.steps, split.kinds, strict=True)
    record.positions, record.solution_text = [[Completion(step, kind)] for step, kind in steps], None
    if not split.thinking_length:
        return ""
    if not split.steps:
        return Message("only_hidden_reasoning")
    if split.thinking:
        record.extra = {THINKING: split.thinking, **record.extra}
    made = record.provenance or Provenance()
    treated = {THINKING: splitting.thinking, "thinking_characters": split.thinking_length}
    record.provenance = msgspec.structs.replace(made, settings={**made.settings, **treated})
    return ""


def _refused(record: Record, options: ImportOptions) -> tuple[str, Message] | None:
    empty = empty_steps(record) if options.empty_steps == "refuse" else []
    return (f"steps[{empty[0]}]", Message("step_empty")) if empty else None
