"""The English sentences of what the platform reports, by code (`prm.messages`): a module for each room."""

from annotation.messages import api, core, files, labels, loop, serving, work

CATALOGUES = (api, core, files, labels, loop, serving, work)
