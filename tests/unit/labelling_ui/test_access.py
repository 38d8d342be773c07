"""Who may open which page, and do what: role by page, with the answer."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.membership.projects import create_project
from annotation.models import ImportJob, Project, TrainingRun

# page: (annotator, reviewer, manager)
PAGES = {
    "": (200, 200, 200),
    "labels/": (200, 200, 200),
    "solutions/": (403, 200, 200),
    "queue/": (403, 200, 200),
    "disputes/": (403, 200, 200),
    "quality/": (403, 200, 200),
    "gold/": (403, 200, 200),
    "quality/sources/": (403, 200, 200),
    "generations/": (403, 200, 200),
    "runs/": (403, 200, 200),
    "models/": (403, 200, 200),
    "models/1/": (403, 200, 200),
    "models/1/download/": (403, 403, 404),  # not exported
    "models/1/audit-report/": (403, 404, 404),  # not audited
    "models/compare/?a=1&b=1": (403, 200, 200),
    "serving/": (403, 200, 200),
    "serving/log/": (403, 200, 200),
    "answers/": (403, 200, 200),
    "import/": (403, 403, 200),
    "import/test-results/": (403, 403, 200),
    "sample/": (403, 403, 200),
    "export/": (403, 403, 200),
    "members/": (403, 403, 200),
    "settings/": (403, 403, 200),
}
ACTIONS = {
    "retrain/": (403, 403, 302),
    "generations/open-first/": (403, 403, 302),
    "settings/state/": (403, 403, 302),
    "models/import/": (403, 403, 302),
    "models/1/domain/": (403, 403, 302),
    **{f"models/1/{name}/": (403, 403, 302) for name in ("promote", "pin", "audit", "export", "measure", "rescore")},
    "queue/change/": (403, 403, 302),
    "quality/set-aside/": (403, 403, 302),
    "gold/mark-many/": (403, 302, 302),
    "serving/limits/": (403, 403, 400),
    "answers/": (403, 403, 302),
    "answers/cancel/": (403, 403, 302),
    "import/": (403, 403, 200),
    "import/test-results/": (403, 403, 200),
