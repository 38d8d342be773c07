from django.contrib.auth.models import User
from django.db import models


class Preference(models.Model):
    """What a person chose for themselves, in every project. No language: that of their browser.

    `first_password`: they still have the password that their account was opened with.
    """

    user = models.OneToOneField(User, primary_key=True, on_delete=models.CASCADE, related_name="preference")
    language = models.CharField(max_length=10, blank=True)
    first_password = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"Preferences of {self.user}"
