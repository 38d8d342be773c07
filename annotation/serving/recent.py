"""The callers and projects of scoring requests, which are read from the database once a second.

A program sends hundreds of requests a second with one token. A revoked token, an ended membership and a changed limit
therefore take effect within SECONDS.
"""

import time
from collections.abc import Callable, Hashable
from typing import Any

from django.contrib.auth.models import AnonymousUser, User

from annotation.core.membership.access import find_project
from annotation.core.membership.tokens import find_token
from annotation.models import ApiToken, Project

SECONDS = 1.0
MOST = 1000  # values at a time

_values: dict[Hashable, tuple[float, Any]] = {}


def recent_token(secret: str) -> ApiToken | None:
    """As `find_token`."""
    token: ApiToken | None = _recent(("token", secret), lambda: find_token(secret))
    return token


def recent_project(user: User | AnonymousUser, slug: str) -> Project:
    """As `find_project`. Raises Missing."""
    project: Project = _recent(("project", user.pk, slug), lambda: find_project(user, slug))
    return project


def _recent(key: Hashable, read: Callable[[], Any]) -> Any:
    """The value for the key, read at most SECONDS ago; None is read again."""
    now = time.monotonic()
    expires, value = _values.get(key, (0.0, None))
    if value is None or expires < now:
        value = read()
        if len(_values) >= MOST:
            _values.clear()
        _values[key] = now + SECONDS, value
    return value
