"""The cache of figures, without which pages are slower but right."""

import logging
import time
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.redis import RedisCache
from redis import RedisError

T = TypeVar("T")
PAUSE = 10  # seconds without another try: a page asks for several figures, and each would wait for a Redis that hangs

log = logging.getLogger(__name__)


class FiguresCache(RedisCache):
    """A cache that acts empty while Redis does not respond."""

    _resting_until: ClassVar[dict[str, float]] = {}  # by address; all threads of a process share it

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._address = server

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return self._attempt(lambda: super(FiguresCache, self).get(key, default, version), otherwise=default)

    def set(self, key: Any, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        self._attempt(lambda: super(FiguresCache, self).set(key, value, timeout, version), otherwise=None)

    def add(self, key: Any, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return self._attempt(lambda: super(FiguresCache, self).add(key, value, timeout, version), otherwise=True)

    def delete(self, key: Any, version: int | None = None) -> bool:
        return self._attempt(lambda: super(FiguresCache, self).delete(key, version), otherwise=False)

    def _attempt(self, operation: Callable[[], T], *, otherwise: T) -> T:
        if time.monotonic() < self._resting_until.get(self._address, 0):
            return otherwise
        try:
            return operation()
        except RedisError as error:
            self._resting_until[self._address] = time.monotonic() + PAUSE
            log.warning("Redis does not respond (%s). Pages compute their figures for each request.", error)
            return otherwise
