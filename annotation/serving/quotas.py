"""Limits per API token, minute and day, counted in Redis."""

import time

from annotation.core.errors import DomainError
from annotation.models import ApiToken, Project
from annotation.serving import request_queue
from prm.messages import Message

SECONDS = {"minute": 60, "day": 86_400}
PERIODS = {"minute": Message("period_minute"), "day": Message("period_day")}

# All counters rise together or none does; returns the 1-based index of the first that would pass its limit, else 0.
_SPEND = """
for i, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or 0) + tonumber(ARGV[3 * i - 2]) > tonumber(ARGV[3 * i - 1]) then return i end
end
for i, key in ipairs(KEYS) do
  redis.call('INCRBY', key, ARGV[3 * i - 2])
  redis.call('EXPIRE', key, ARGV[3 * i])
end
return 0
"""


def _amount(n: int, unit: str) -> Message:
    if unit == "steps":
        return Message("n_quota_steps", n=n)
    return Message("n_requests", n=n)


class QuotaMet(DomainError):
    """`wait` is in seconds."""

    status = 429

    def __init__(self, limit: str, most: int, wait: int) -> None:
        self.wait = wait
        unit, _, period = limit.partition("_per_")
        super().__init__(
            Message("quota_met", most=_amount(most, unit), period=PERIODS[period], wait=wait),
            {"limit": limit, "most": most, "retry_after": wait},
        )


def limits_of(token: ApiToken, project: Project) -> dict[str, int]:
    """Each limit that applies: the lower of the token's own and the project's."""
    policy = project.policies.serving
    limits = {}
    for name in ApiToken.LIMITS:
        set_limits = [limit for limit in (getattr(token, name), getattr(policy, name) or None) if limit is not None]
        if set_limits:
            limits[name] = min(set_limits)
    return limits


def spend(token: ApiToken | None, project: Project, *, steps: int) -> None:
    """Count one request with that many steps. Raises DomainError (`larger_than_quota`), QuotaMet; then counts nothing.

    A person in a browser has no token and no limit.
    """
    if token is None or not (limits := limits_of(token, project)):
        return
    now = time.time()
    keys, arguments = [], []
    for name, most in limits.items():
        unit, _, period = name.partition("_per_")
        seconds = SECONDS[period]
        amount = steps if unit == "steps" else 1
        if amount > most:
            raise DomainError(
                Message(
                    "larger_than_quota", amount=_amount(amount, unit), most=_amount(most, unit), period=PERIODS[period]
                ),
                {"limit": name, "most": most, "asked": amount},
            )
        keys.append(f"serving:quota:{token.pk}:{project.pk}:{name}:{int(now) // seconds}")
        arguments += [amount, most, seconds]
    passed = int(request_queue.redis_client().eval(_SPEND, len(keys), *keys, *arguments))
    if passed:
        name = list(limits)[passed - 1]
        seconds = SECONDS[name.partition("_per_")[2]]
        raise QuotaMet(name, limits[name], seconds - int(now) % seconds)
