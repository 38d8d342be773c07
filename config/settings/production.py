"""Behind a TLS-terminating proxy, as in docker-compose.yml; every secret comes from the environment."""

from config.env import env, require_production

require_production()  # before a setting is read, which would report only one fault

from config.settings.base import *  # noqa: E402, F403

SECRET_KEY = env.str("SECRET_KEY")
ALLOWED_HOSTS = [*env.list("ALLOWED_HOSTS"), "localhost"]  # its own health check
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXY_COUNT", 1)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Only for trying the compose file without TLS: set HTTPS_ONLY=false.
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool("HTTPS_ONLY", True)
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^metrics$"]
SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", 3600)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
