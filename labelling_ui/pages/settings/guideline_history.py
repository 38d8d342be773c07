"""The versions of a project's guidelines, each with its difference from the one before."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import NamedTuple

from django.contrib.auth.models import User

from annotation.models import GuidelineVersion, Project
from labelling_ui.templatetags.answers import USUAL


class Line(NamedTuple):
    """A line of the text or of the examples, which the version adds, removes or leaves unchanged."""

    text: str
    added: bool
    removed: bool


@dataclass(frozen=True)
class VersionShown:
    """A version as the settings show it."""

    number: int
    created_by: User | None
    created_at: datetime
    difference: list[Line]


def versions_of(project: Project) -> list[VersionShown]:
    """All versions, latest first. The first one differs from empty guidelines."""
    versions = list(project.guideline_versions.select_related("created_by"))
    texts = [_lines(version) for version in versions]
    return [
        VersionShown(version.number, version.created_by, version.created_at, list(_difference(before, after)))
        for version, after, before in zip(versions, texts, [*texts, []][1:], strict=True)
    ]


def _lines(version: GuidelineVersion) -> list[str]:
    """The text, followed by the examples as one paragraph each."""
    lines = version.text.splitlines()
    for example in version.rated_examples:
        name = str(USUAL[example.rating][1])
        parts = (example.before, f"{name}: {example.step}", example.why)
        lines += ["", *(line for part in parts for line in part.splitlines())]
    return lines


def _difference(before: list[str], after: list[str]) -> Iterator[Line]:
    for tag, old, old_end, new, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (Line(text, added=False, removed=False) for text in before[old:old_end])
        else:
            yield from (Line(text, added=False, removed=True) for text in before[old:old_end])
            yield from (Line(text, added=True, removed=False) for text in after[new:new_end])
