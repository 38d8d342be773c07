"""The pages of the settings, and one of them as it is shown, sent and saved."""

import re
from typing import Any, NamedTuple

from django.http import QueryDict
from django.utils.translation import gettext_lazy

from annotation.core.errors import DomainError
from annotation.core.wording import in_words
from annotation.models import Project
from labelling_ui.pages.settings.answer_keys import AnswersPart, KeysPart
from labelling_ui.pages.settings.examples import ExamplesPart
from labelling_ui.pages.settings.feedback import FeedbackPart
from labelling_ui.pages.settings.generations import GenerationsPart
from labelling_ui.pages.settings.gold import GoldPart, ScreeningPart
from labelling_ui.pages.settings.hints import HintsPart
from labelling_ui.pages.settings.pace import PacePart
from labelling_ui.pages.settings.part import Part
from labelling_ui.pages.settings.project import GuidelinesPart, ProjectPart
from labelling_ui.pages.settings.queue import QueuePart
from labelling_ui.pages.settings.rounds import RoundsPart
from labelling_ui.pages.settings.scheme import BesidePart, FirstErrorPart, RatingPart
from labelling_ui.pages.settings.training import GatePart, SourcesPart, TrainingPart
from labelling_ui.pages.settings.watch import WatchPart


class Kind(NamedTuple):
    """A page: its place in the address, its title, and what it holds."""

    name: str
    title: Any
    parts: tuple[type[Part], ...]


PAGES = [
    Kind("project", gettext_lazy("Project and people"), (ProjectPart,)),
    Kind("guidelines", gettext_lazy("Guidelines"), (GuidelinesPart, ExamplesPart)),
    Kind("scheme", gettext_lazy("Labelling scheme"), (RatingPart, FirstErrorPart, BesidePart)),
    Kind("answers", gettext_lazy("Answers and keys"), (AnswersPart, KeysPart)),
    Kind("queue", gettext_lazy("Queue"), (GenerationsPart, QueuePart)),
    Kind("work", gettext_lazy("Pace and hints"), (PacePart, HintsPart, FeedbackPart)),
    Kind("quality", gettext_lazy("Gold and quality"), (GoldPart, ScreeningPart, WatchPart)),
    Kind("training", gettext_lazy("Training"), (TrainingPart, SourcesPart, GatePart)),
    Kind("rounds", gettext_lazy("Learning rounds"), (RoundsPart,)),
]
FIRST = PAGES[0].name


class SettingsPage:
    """One page of a project's settings, blank or as it was sent; the domain's own check has the last word."""

    def __init__(self, kind: Kind, project: Project, sent: QueryDict | None = None) -> None:
        self.kind, self.project, self.sent = kind, project, sent
        self.parts = [part(sent, initial=part.values(project)) for part in kind.parts]
        self.refusals: list[str] = []

    @property
    def values(self) -> dict[str, Any]:
        """What the fields hold as the page opens."""
        return {name: value for part in self.parts for name, value in part.initial.items()}

    def is_valid(self) -> bool:
        valid = [part.is_valid() for part in self.parts]  # each of them: every part tells what is wrong
        return all(valid)

    def changes(self) -> dict[str, Any]:
        """What `change_project` takes: what is not on this page stays as it is."""
        changes: dict[str, Any] = {}
        for part in self.parts:
            for name, value in part.changes().items():
                before = changes.get(name, getattr(self.project, name))
                changes[name] = before | value if isinstance(value, dict) else value
        return changes

    def blame(self, error: DomainError) -> None:
        """Show the domain's refusal at the field it names, such as `mix.control`."""
        place = error.extra.get("place", "")
        message = in_words(error.extra["reason"] if place else error.message)
        named = re.split(r"[.\[]", place) if place else [error.extra.get("field", "")]
        for part in self.parts:
            if named[0] in _decided(part) and (field := part.field_at(named)):
                part.add_error(field, message)
                return
        self.refusals.append(message)


def _decided(part: Part) -> set[str]:
    """What of the project, of its scheme and of its policy a part changes."""
    changes = part.changes()
    return {*changes, *changes.get("scheme", {}), *changes.get("policy", {})}
