"""The web application, as gunicorn loads it."""

from django.core.wsgi import get_wsgi_application

from config.env import select_settings

select_settings("config.settings.local")
application = get_wsgi_application()
