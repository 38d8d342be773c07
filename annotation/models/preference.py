from django.contrib.auth.models import User
from django.db import models


class Preference(models.Model):
    """A user's preferences, for every project. Without a `language`, pages are in the language of the browser.

    `first_password` is true while the user still has the password of the invitation.
    """

    user = models.OneToOneField(User, primary_key=True, on_delete=models.CASCADE, related_name="preference")
    language = models.CharField(max_length=10, blank=True)
    first_password = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"Preferences of {self.user}"
