"""Tests: real PostgreSQL and Redis, everything else small and quick."""

from config.settings.base import *  # noqa: F403
from config.settings.base import DATABASES, DJANGO_VITE, FRONT_END_MANIFEST

SECRET_KEY = "only-for-tests"
ALLOWED_HOSTS = ["*"]
DATABASES.pop("replica", None)  # it would lack the test's database
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True  # else each test client would list every static file at its first request
# Pages render without a built front end; only browser tests need its files.
DJANGO_VITE["default"]["dev_mode"] = not FRONT_END_MANIFEST.exists()
POLICY_ENDPOINTS = {"sandbox": {"url": "sandbox:", "model": "sandbox-medium"}}
WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
API_STRANGER_CALLS_PER_MINUTE = 0  # every test calls from the same address
