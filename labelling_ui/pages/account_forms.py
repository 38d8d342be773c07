"""allauth's forms, with our labels."""

from typing import Any

from allauth.account.forms import ChangePasswordForm, LoginForm
from django.utils.translation import gettext_lazy as _


class SignInForm(LoginForm):  # type: ignore[misc]  # allauth ships no types
    """The user name and the password."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        login = self.fields["login"]
        login.label = login.widget.attrs["placeholder"] = _("User name")


class PasswordForm(ChangePasswordForm):  # type: ignore[misc]  # allauth ships no types
    """The current password, and the new one twice."""

    labels = (
        ("oldpassword", _("Current password")),
        ("password1", _("New password")),
        ("password2", _("New password again")),
    )

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        for name, label in self.labels:
            self.fields[name].label = self.fields[name].widget.attrs["placeholder"] = label
