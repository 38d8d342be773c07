"""How much each token may ask in a minute and a day, counted in Redis."""

import time

from annotation.core.errors import DomainError
from annotation.models import ApiToken, Project
from annotation.serving import line
from prm.messages import Message

SECONDS = {"minute": 60, "day": 86_400}
PERIODS = {"minute": Message("period_minute"), "day": Message("period_day")}

# All counters rise together or none does; the answer names the first that would pass its limit, from 1.
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


def _amount(n: int, what: str) -> Message:
    if what == "steps":
        return Message("n_quota_steps", n=n)
    return Message("n_requests", n=n)


class QuotaMet(DomainError):
    """`wait` is in seconds."""

    status = 429

    def __init__(self, limit: str, most: int, wait: int) -> None:
        self.wait = wait
        what, _, period = limit.partition("_per_")
        super().__init__(
            "quota_met",
            Message("quota_met", most=_amount(most, what), period=PERIODS[period], wait=wait),
            {"limit": limit, "most": most, "retry_after": wait},
        )


def limits_of(token: ApiToken, project: Project) -> dict[str, int]:
    """Each limit that holds: the lower of the token's own and of the project's for each token."""
    policy = project.policies.serving
    found = {}
    for name in ApiToken.LIMITS:
        given = [limit for limit in (getattr(token, name), getattr(policy, name) or None) if limit is not None]
        if given:
            found[name] = min(given)
    return found


def spend(token: ApiToken | None, project: Project, *, steps: int) -> None:
    """Count one request with that many steps; raises QuotaMet, and counts nothing then.

    A person in a browser has no token and no limit.
    """
    if token is None or not (limits := limits_of(token, project)):
        return
    now = time.time()
    keys, arguments = [], []
    for name, most in limits.items():
        what, _, period = name.partition("_per_")
        seconds = SECONDS[period]
        amount = steps if what == "steps" else 1
        if amount > most:
            raise DomainError(
                "larger_than_quota",
                Message(
                    "larger_than_quota", amount=_amount(amount, what), most=_amount(most, what), period=PERIODS[period]
                ),
                {"limit": name, "most": most, "asked": amount},
            )
        keys.append(f"serving:quota:{token.pk}:{project.pk}:{name}:{int(now) // seconds}")
        arguments += [amount, most, seconds]
    met = int(line.server().eval(_SPEND, len(keys), *keys, *arguments))
    if met:
        name = list(limits)[met - 1]
        seconds = SECONDS[name.partition("_per_")[2]]
        raise QuotaMet(name, limits[name], seconds - int(now) % seconds)
