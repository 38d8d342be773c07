"""Server-rendered pages and the front end."""

from labelling_ui import messages
from prm.messages import register

register(messages)
