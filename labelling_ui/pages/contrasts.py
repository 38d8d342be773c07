"""Sources of labels against each other, two by two: where they agree on the first error, and the rows behind it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from annotation.labels.quality import contrast
from annotation.models import Membership
from labelling_ui.pages.access import STAFF, project_page

WAYS = [
    ("pairs", _("Both label")),
    ("exact", _("Same place")),
    ("within_one", _("Within one")),
    ("differing", _("Differ")),
    ("both", _("Both find")),
    ("neither", _("Neither")),
    ("only_one", _("Upper only")),
    ("only_other", _("Lower only")),
]


@project_page(*STAFF)
def contrasts(request: HttpRequest, member: Membership) -> HttpResponse:
    rows = [
        {"one": one, "other": other, "cells": [(way, label, getattr(found, way), found.pairs) for way, label in WAYS]}
        for one, other, found in contrast.contrasts(member.project)
    ]
    heads = [label for _way, label in WAYS]
    context = {"member": member, "tab": "quality", "rows": rows, "heads": heads}
    return render(request, "labelling_ui/contrasts.html", context)
