"""The web application, as gunicorn loads it."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from annotation.core.structs import prepare_structs

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
application = get_wsgi_application()
get_resolver().url_patterns  # noqa: B018 - imports every view now, not during the first request
prepare_structs()
