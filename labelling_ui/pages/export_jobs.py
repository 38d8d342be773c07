"""One export that a worker makes: its progress, its snapshot and its files."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.models import Membership
from labelling_ui.pages.access import MANAGER, project_page


@project_page(MANAGER)
def export_job(request: HttpRequest, member: Membership, job_id: int) -> HttpResponse:
    job = get_object_or_404(member.project.export_jobs.select_related("snapshot", "schedule"), pk=job_id)
    return render(request, "labelling_ui/export_job.html", {"job": job, "live": job.live})
