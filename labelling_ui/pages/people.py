"""A member as a choice of a form."""

from django import forms

from annotation.models import Membership


class PersonField(forms.ModelChoiceField):
    """A member, by user name."""

    def label_from_instance(self, obj: Membership) -> str:
        return obj.user.username
