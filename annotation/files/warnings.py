"""Warnings of an import: the counts stored with its job, and their sentences."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count

from annotation.files.identity import assign_split, payload_hash, source_group_of
from annotation.files.record_faults import empty_steps
from annotation.files.record_labels import names_nobody
from annotation.files.store import Counts
from annotation.models import Problem, Project
from prm.formats.identity import content_hash, text_hash
from prm.formats.record import Record
from prm.messages import Message
from prm.vocabulary import SPLITS


def warnings_of(records: Sequence[Record]) -> dict[str, int]:
    """The counts of warnings of records before they are stored."""
    empty = [len(positions) for record in records if (positions := empty_steps(record))]
    return {
        "empty_steps": sum(empty),
        "solutions_with_empty_steps": len(empty),
        "problems_without_solutions": sum(record.is_problem_only for record in records),
    }


def add_warnings(warnings: Mapping[str, int], of_records: Mapping[str, int], counts: Counts) -> dict[str, int]:
    """The counts of warnings, with those of a stored chunk added; zeros are left out."""
    new = {
        **of_records,
        "unnamed_labels": counts.unnamed,
        "revised_labels": counts.revised,
        "equal_samples": counts.repeated,
    }
    return {**warnings, **{name: warnings.get(name, 0) + n for name, n in new.items() if n}}


def uneven_splits(project: Project) -> dict[str, int]:
    """The counts of the project's problems if a split is empty or most problems share a source group; else nothing."""
    problems = Problem.objects.filter(project=project)
    by_split = dict(problems.values_list("split").annotate(n=Count("pk")).order_by())
    largest = problems.values_list("source_group").annotate(n=Count("pk")).order_by("-n").first()
    if largest is None or (len(by_split) == len(SPLITS) and not _dominates(largest[1], sum(by_split.values()))):
        return {}
    groups = problems.aggregate(n=Count("source_group", distinct=True))["n"]
    return _uneven(by_split, groups, largest[1])


def _dominates(largest: int, problems: int) -> bool:
    """Whether a source group of `largest` problems decides what the splits hold."""
    return largest > 1 and 2 * largest > problems


def _uneven(by_split: Mapping[Any, int], groups: int, largest: int) -> dict[str, int]:
    return {
        "problems": sum(by_split.values()),
        "source_groups": groups,
        "largest_group": largest,
        **{split: by_split.get(split, 0) for split in SPLITS},
    }


def foreseen_warnings(records: Sequence[Record], *, whole: bool) -> dict[str, int]:
    """The warnings of importing the records into an empty project; `whole` if they are the whole file.

    For a part of a file, an empty split is foreseen only if most of its problems share a source group with another one.
    """
    groups = {text_hash(record.problem): source_group_of(record.problem, record.source_group) for record in records}
    sizes = Counter(groups.values())
    splits = Counter(assign_split(group) for group in groups.values())
    largest = max(sizes.values(), default=0)
    warnings = add_warnings({}, warnings_of(records), Counts())
    shared = 2 * len(sizes) <= len(groups)
    empty = len(splits) < len(SPLITS) and (shared or (whole and len(sizes) < len(groups)))
    if groups and (empty or _dominates(largest, len(groups))):
        warnings |= _uneven(splits, len(sizes), largest)
    labels: dict[tuple[str, str, str], set[str]] = {}
    for record in records:
        for label in record.annotations:
            if names_nobody(label):
                place = (text_hash(record.problem), content_hash(record), label.source_name)
                labels.setdefault(place, set()).add(payload_hash(record, label))
    unnamed = sum(len(different) - 1 for different in labels.values())
    return warnings | ({"unnamed_labels": unnamed} if unnamed else {})


def warnings_in_words(warnings: Mapping[str, int]) -> list[Message]:
    """A sentence for each warning: what happened, and what to do about it."""
    sentences = []
    if "problems" in warnings:
        sentences.append(_of_splits(warnings))
    if n := warnings.get("unnamed_labels"):
        sentences.append(Message("labels_differ_without_annotator", n=n))
    if n := warnings.get("revised_labels"):
        sentences.append(Message("labels_replaced", n=n))
    if n := warnings.get("equal_samples"):
        sentences.append(Message("samples_equal", n=n))
    if n := warnings.get("problems_without_solutions"):
        sentences.append(Message("problems_without_solutions", n=n))
    if n := warnings.get("empty_steps"):
        sentences.append(
            Message(
                "steps_without_text", n=n, solutions=Message("n_solutions", n=warnings["solutions_with_empty_steps"])
            )
        )
    return sentences


def _of_splits(warnings: Mapping[str, int]) -> Message:
    names = {
        "pool": Message("part_pool"),
        "calibration": Message("part_calibration"),
        "holdout": Message("part_holdout"),
    }
    missing = [name for split, name in names.items() if not warnings[split]]
    if not missing:
        return Message("one_group_dominates", n=warnings["largest_group"], problems=warnings["problems"])
    empty = Message("one_and_other", one=missing[0], other=missing[1]) if len(missing) > 1 else missing[0]
    problems = Message("n_problems", n=warnings["problems"])
    if warnings["source_groups"] == warnings["problems"]:
        return Message("parts_empty", problems=problems, empty=empty)
    return Message(
        "parts_empty_by_groups",
        problems=problems,
        groups=Message("n_source_groups", n=warnings["source_groups"]),
        empty=empty,
    )
