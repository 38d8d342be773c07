import uuid
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import choices
from annotation.models.policy import ProjectPolicy, read_policy
from annotation.models.scheme import LabelScheme, parse_scheme

if TYPE_CHECKING:
    from annotation.models.guideline_version import GuidelineVersion


class Project(models.Model):
    """A labelling campaign with a label scheme, versions of guidelines, roles and policies."""

    class State(models.TextChoices):
        ACTIVE = "active", _("Active")
        PAUSED = "paused", _("Paused")

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    scheme = models.JSONField(default=dict, blank=True)
    policy = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    @property
    def current_guidelines(self) -> "GuidelineVersion":
        """The latest version of the guidelines; number 0 and empty if nobody has written any."""
        latest = next(iter(self.guideline_versions.all()[:1]), None)
        return latest or self.guideline_versions.model(project=self, number=0)

    @property
    def label_scheme(self) -> LabelScheme:
        return _scheme(msgspec.json.encode(self.scheme))

    @property
    def policies(self) -> ProjectPolicy:
        return _policy(msgspec.json.encode(self.policy))


# Each value is decoded once, because a claim reads them often.
@lru_cache(maxsize=256)
def _scheme(value: bytes) -> LabelScheme:
    return parse_scheme(msgspec.json.decode(value))


@lru_cache(maxsize=256)
def _policy(value: bytes) -> ProjectPolicy:
    return read_policy(msgspec.json.decode(value))


MEMBER_NAME = Coalesce("user__username", "name_in_file")  # for the order of querysets; see `Membership.name`


class Membership(models.Model):
    """A user's role in a project, with the pseudonym that snapshots use.

    The user labels only problems of their `domains`; null is every domain. A person whose labels came in a file has no
    account: `user` is null, `name_in_file` is the file's name for them, and the membership is never active.
    """

    Role = choices.Role
    Kind = choices.MemberKind

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="memberships")
    name_in_file = models.CharField(max_length=200, null=True, blank=True)
    role = models.CharField(max_length=10, choices=Role)
    pseudonym = models.UUIDField(default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.PERSON)
    domains = ArrayField(models.CharField(max_length=100, blank=True), null=True, blank=True)
    active = models.BooleanField(default=True)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_once_per_project"),
            models.UniqueConstraint(fields=["project", "name_in_file"], name="membership_file_name_once"),
            models.UniqueConstraint(fields=["project", "pseudonym"], name="membership_pseudonym_once"),
            models.CheckConstraint(
                condition=Q(user__isnull=False, name_in_file__isnull=True)
                | Q(user__isnull=True, name_in_file__isnull=False, active=False),
                name="membership_has_account_or_is_from_file",
            ),
            models.CheckConstraint(
                condition=Q(role__in=["annotator", "reviewer", "manager"]), name="membership_role_known"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["person", "machine", "simulated"]), name="membership_kind_known"
            ),
            models.CheckConstraint(
                condition=~Q(kind="machine") | Q(role="annotator"), name="membership_machine_labels"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} as {self.role} of {self.project}"

    @property
    def name(self) -> str:
        """The user name, or a file's name for a person without an account."""
        return self.name_in_file or "" if self.user is None else self.user.username

    @property
    def shown_name(self) -> str:
        """The name on pages, which says so if the member is a machine or its labels came in a file."""
        if self.user is None:
            return gettext("%(name)s (from a file)") % {"name": self.name}
        return gettext("%(name)s (machine)") % {"name": self.name} if self.kind == self.Kind.MACHINE else self.name
