"""The English sentences of the platform's messages, by code (`prm.messages`), with a module for each room."""

from annotation.messages import api, core, files, labels, loop, serving, work

CATALOGUES = (api, core, files, labels, loop, serving, work)
