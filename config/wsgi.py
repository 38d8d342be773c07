"""The web application, as gunicorn loads it."""

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from annotation.core.structs import prepare_structs
from config.env import select_settings

select_settings("config.settings.local")
application = get_wsgi_application()
get_resolver().url_patterns  # noqa: B018 - imports every view now, not during the first request
prepare_structs()
