"""One machine, as `make run` starts it: plain HTTP on this computer, files served from the source tree."""

from config.env import env, local_secret_key, policy_endpoints
from config.settings.base import *  # noqa: F403

SECRET_KEY = local_secret_key()
DEBUG = env.bool("DEBUG", False)
ALLOWED_HOSTS = [*env.list("ALLOWED_HOSTS", []), "localhost", "127.0.0.1", "[::1]"]
WEBHOOK_PRIVATE_HOSTS = env.list("WEBHOOK_PRIVATE_HOSTS", ["localhost", "127.0.0.1"])
WHITENOISE_USE_FINDERS = True
EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
# The demo's policy and judge: those of its generated world, which the process that uses them starts.
POLICY_ENDPOINTS = policy_endpoints(
    {
        "sandbox": {"url": "sandbox:", "model": "sandbox-medium"},
        "sandbox-judge": {"url": "sandbox:", "model": "sandbox-judge"},
    }
)
