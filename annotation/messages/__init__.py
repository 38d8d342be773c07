"""The English sentences of what the platform reports, by code (`prm.messages`): a module for each room."""

from annotation.messages import api, core, files, labels, loop, models, serving, shared, work

CATALOGUES = (api, core, files, labels, loop, models, serving, shared, work)
