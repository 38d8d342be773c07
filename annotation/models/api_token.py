from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from annotation.models.choices import Scope


class ApiToken(models.Model):
    """A program's token for the API. Only the SHA-256 of the secret is stored.

    Each request needs one of the `scopes`. Labels submitted with a token are a model judge's, unless the token is
    `for_person`. The four limits apply to scoring; with null, only the project's policy limits the token.
    """

    LIMITS = ("requests_per_minute", "requests_per_day", "steps_per_minute", "steps_per_day")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope))
    for_person = models.BooleanField(
        default=False, db_default=False, help_text="A person labels by hand in the tool that uses it."
    )
    digest = models.CharField(max_length=64, unique=True)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    requests_per_day = models.PositiveIntegerField(null=True, blank=True)
    steps_per_minute = models.PositiveIntegerField(null=True, blank=True)
    steps_per_day = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(scopes__contained_by=Scope.values), name="token_scopes_known"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"
