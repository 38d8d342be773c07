"""A client of the API for tests of what it answers, not of how people sign in."""

from django.contrib.auth.models import User
from rest_framework.test import APIClient


def api_of(user: User) -> APIClient:
    """A client whose requests are this user's, without a session or a token."""
    client = APIClient()
    client.force_authenticate(user)
    return client
