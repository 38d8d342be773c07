"""Label Studio's settings with the benchmark's Redis; only Label Studio's interpreter reads them."""

import os

# Its settings use these values while they are loaded, so they are set before.
from core.settings.base import *  # noqa: F403

SENTRY_DSN = ""

from core.settings.label_studio import *  # noqa: E402, F403
from core.settings.label_studio import RQ_QUEUES  # noqa: E402

for _queue in RQ_QUEUES.values():
    del _queue["HOST"], _queue["PORT"]
    _queue["UNIX_SOCKET_PATH"] = os.environ["BENCHMARK_REDIS_SOCKET"]
