"""The domain: projects, problems, solutions, labels, the queue and the loop."""

from annotation.messages import CATALOGUES
from prm.messages import register

register(*CATALOGUES)
