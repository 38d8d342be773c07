#!/usr/bin/env python
"""Administrative commands."""

import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from config.env import select_settings

if __name__ == "__main__":
    select_settings("config.settings.local")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
