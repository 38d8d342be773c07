"""The settings pages: each is a form of a few parts."""

import hashlib
import re
from typing import Any, NamedTuple

import msgspec
from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.errors import DomainError, Forbidden
from annotation.core.membership.projects import change_project, lock_project
from annotation.core.wording import in_words
from annotation.models import Membership, Project
from labelling_ui.pages.access import MANAGER, attempt, project_action, project_page, signed_in
from labelling_ui.pages.settings import learning, project, routes, scheme, work
from labelling_ui.pages.settings.part import Part


class Kind(NamedTuple):
    """A settings page: its address, title and parts. Those that compose generations change none that is open."""

    name: str
    title: Any
    parts: tuple[type[Part], ...]
    composes: bool = False


PAGES = [
    Kind("project", _("Project and people"), (project.ProjectPart, project.CardPart)),
    Kind("guidelines", _("Guidelines"), (project.GuidelinesPart, project.ExamplesPart)),
    Kind("scheme", _("Labelling scheme"), (scheme.RatingPart, scheme.FirstErrorPart, scheme.BesidePart)),
    Kind("answers", _("Answers and shortcuts"), (scheme.AnswersPart, scheme.KeysPart)),
    Kind("queue", _("Queue"), (work.GenerationsPart, work.QueuePart), composes=True),
    Kind("labour", _("Division of labour"), (routes.RoutesPart, work.CostsPart), composes=True),
    Kind("work", _("Pace, hints and feedback"), (work.PacePart, work.HintsPart, work.FeedbackPart)),
    Kind("quality", _("Gold and quality"), (work.GoldPart, work.ScreeningPart, work.WatchPart)),
    Kind("training", _("Training"), (learning.TrainingPart, learning.SourcesPart, learning.GatePart)),
    Kind("rounds", _("Rounds"), (learning.RoundsPart,)),
]
FIRST = PAGES[0].name


class SettingsPage:
    """One settings page, unbound or as sent. The domain validates it last."""

    def __init__(self, kind: Kind, project: Project, sent: QueryDict | None = None) -> None:
        self.kind, self.project, self.sent = kind, project, sent
        self.parts = [part(sent, initial=part.values(project)) for part in kind.parts]
        for part in self.parts:
            part.project = project
        self.refusals: list[str] = []

    @property
    def values(self) -> dict[str, Any]:
        """The initial values of the fields."""
        return {name: value for part in self.parts for name, value in part.initial.items()}

    @property
    def stamp(self) -> str:
        """Identifies the stored values. The form sends that of the values that it was opened with."""
        return hashlib.sha256(msgspec.json.encode(self.values, enc_hook=str)).hexdigest()

    @property
    def is_stale(self) -> bool:
        """Whether the stored values changed after the form was opened."""
        return self.sent is not None and self.sent.get("opened", self.stamp) != self.stamp

    def is_valid(self) -> bool:
        valid = [part.is_valid() for part in self.parts]  # all of them, so that every part shows its errors
        return all(valid)

    def changes(self) -> dict[str, Any]:
        """The changes for `change_project`. Settings of other pages are not changed."""
        changes: dict[str, Any] = {}
        for part in self.parts:
            for name, value in part.changes().items():
                if isinstance(value, dict):
                    value = changes.get(name, getattr(self.project, name)) | value
                changes[name] = value
        return changes

    def blame(self, error: DomainError, by: User) -> None:
        """Show the domain's error, and those behind it: the domain names one at a time.

        Each field that it names is left as stored, and the rest is tried again without being saved.
        """
        rest = SettingsPage(self.kind, self.project, self.sent)
        while rest.is_valid():
            place = error.extra.get("place", "")
            message = in_words(error.extra["reason"] if place else error.message)
            number, field = rest.find(place or error.extra.get("field", ""))
            if field is None:
                self.refusals.append(message)
                return
            if field in self.parts[number].errors:
                return
            self.parts[number].add_error(field, message)
            rest.parts[number].fields[field].disabled = True  # so that the form takes the stored value
            rest.parts[number].full_clean()
            try:
                with transaction.atomic():
                    change_project(by=by, project=self.project, **rest.changes())
                    transaction.set_rollback(True)
                return
            except DomainError as following:
                error = following

    def find(self, place: str) -> tuple[int, str | None]:
        """The part and the field for a place such as `mix.control`; no field if the page has none."""
        named = re.split(r"[.\[]", place)
        for number, part in enumerate(self.parts):
            if named[0] in _decided(part) and (field := part.field_at(named)):
                return number, field
        return 0, None


def _decided(part: Part) -> set[str]:
    """The changes that a part makes to the project, its scheme and its policy."""
    changes = part.changes()
    return {*changes, *changes.get("scheme", {}), *changes.get("policy", {})}


@project_page(MANAGER)
@transaction.atomic
def settings(request: HttpRequest, member: Membership, name: str = FIRST) -> HttpResponseBase:
    kind = next((kind for kind in PAGES if kind.name == name), None)
    if kind is None:
        raise Http404(gettext("This settings page does not exist."))
    saves = request.method == "POST"
    project = lock_project(member.project) if saves else member.project
    page = SettingsPage(kind, project, request.POST if saves else None)
    if page.is_stale:
        page.refusals.append(
            gettext(
                "Not saved. These settings changed after you opened this page. Save again to replace them, or open the "
                "page again to see them."
            )
        )
    elif page.sent is not None and page.is_valid():
        try:
            change_project(by=signed_in(request), project=project, **page.changes())
        except Forbidden:
            raise
        except DomainError as error:
            page.blame(error, signed_in(request))
        else:
            later = gettext(
                "Saved. The open generation is unchanged; changes to its composition apply from the next one."
            )
            messages.success(request, later if kind.composes else gettext("Saved."))
            return redirect("settings-page", project.slug, name)
    return render(request, "labelling_ui/settings.html", {"page": page, "pages": PAGES})


@project_action(MANAGER)
def set_state(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Pause or resume the project."""
    paused = request.POST.get("state") == Project.State.PAUSED
    done = (
        gettext("Paused. No new work is assigned until you resume.")
        if paused
        else gettext("Resumed. People can label again.")
    )
    attempt(request, done, change_project, project=member.project, state=request.POST.get("state", ""))
    return redirect("settings", member.project.slug)
