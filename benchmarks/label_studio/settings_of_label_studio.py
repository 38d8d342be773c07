"""Label Studio's own settings, with Redis where the benchmark runs it; read by Label Studio's interpreter only."""

import os

# Its settings read themselves while they are loaded, so what they look for has to stand here by then.
from core.settings.base import *  # noqa: F403

SENTRY_DSN = ""

from core.settings.label_studio import *  # noqa: E402, F403
from core.settings.label_studio import RQ_QUEUES  # noqa: E402

for _queue in RQ_QUEUES.values():
    del _queue["HOST"], _queue["PORT"]
    _queue["UNIX_SOCKET_PATH"] = os.environ["BENCHMARK_REDIS_SOCKET"]
