from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import DomainError
from annotation.loop.model_jobs.importing import offer_folder
from annotation.loop.model_jobs.jobs import request_import, run_model_job
from annotation.management.finishing import finish_job
from annotation.management.named_project import find_project_by_slug


class Command(BaseCommand):
    help = "Import a model folder from models/imports as a challenger, which the gate then measures."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", help="the folder's name in models/imports, or the path of one to copy there")
        parser.add_argument("--project", required=True, help="address (slug) of the project")
        parser.add_argument("--by", required=True, help="user name of a manager")
        parser.add_argument("--separator", default="\n", help="what ends a step for a token classifier")
        parser.add_argument("--good", type=int, default=1, help="a token classifier's class of correct steps")

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project_by_slug(options["project"])
        by = User.objects.filter(username=options["by"]).first()
        if by is None:
            raise CommandError(f"There is no user '{options['by']}'. Give the user name of a manager of the project.")
        try:
            folder = Path(options["folder"])
            job = request_import(
                by=by,
                project=project,
                folder=offer_folder(folder.resolve()) if len(folder.parts) > 1 else options["folder"],
                separator=options["separator"],
                good=options["good"],
            )
        except DomainError as error:
            raise CommandError(error.message) from error
        finish_job(job, partial(run_model_job, job.pk))
        if job.error or job.model_version is None:
            raise CommandError(job.error or f"The import is {job.get_state_display()}.")
        self.stdout.write(f"Model {job.model_version.number} of {project}. {job.message}")
