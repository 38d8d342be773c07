"""Members to choose from."""

from django import forms
from django.db.models import QuerySet

from annotation.models import Membership, Project


class PersonField(forms.ModelChoiceField):
    """A member, by user name."""

    def label_from_instance(self, obj: Membership) -> str:
        return obj.user.username


def people_of(project: Project) -> QuerySet[Membership]:
    """The members of a project, by user name."""
    return Membership.objects.filter(project=project, active=True).select_related("user").order_by("user__username")
