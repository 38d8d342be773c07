"""What the model's scores beside the work do to labels: the hinted arm against the blind one."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from annotation.labels.quality.hint_effects import Comparison, compare_hints
from annotation.models import Membership
from labelling_ui.pages.access import STAFF, project_page

SHARES = ("agrees", "right", "misled", "finds")


@project_page(*STAFF)
def hints(request: HttpRequest, member: Membership) -> HttpResponse:
    names = {
        "agrees": _("Same first error as the model"),
        "right": _("Right, where the first error is known"),
        "misled": _("Same as the model, where that is known to be wrong"),
        "finds": _("Find an error"),
    }
    found = [
        {
            "comparison": comparison,
            "verdict": _verdict(comparison),
            "rows": [
                (
                    names[name],
                    getattr(comparison.hinted, name),
                    getattr(comparison.blind, name),
                    getattr(comparison.gaps, name),
                )
                for name in SHARES
            ],
        }
        for comparison in compare_hints(member.project)
    ]
    context = {"member": member, "tab": "quality", "found": found, "policy": member.project.policies.hints}
    return render(request, "labelling_ui/hints.html", context)


def _verdict(comparison: Comparison) -> str:
    """What can be said of people's leaning on the model, in a sentence."""
    misled, agrees = comparison.gaps.misled, comparison.gaps.agrees
    if misled is not None and misled.low > 0:
        return _("People follow the model into its errors more often where they see its scores.")
    if agrees is None:
        return _("Labels of both arms are needed to tell what hints do.")
    if agrees.low > 0:
        return _("People name the model’s first error more often where they see its scores.")
    if agrees.high < 0:
        return _("People name the model’s first error less often where they see its scores.")
    return _("No leaning on the model can be told from chance so far.")
