"""The machine annotators of judges."""

from django.contrib.auth.models import User

from annotation.core.membership.members import add_member, mark_machine
from annotation.models import JudgingRun, Membership

NAME_LENGTH = 150


def find_judge(run: JudgingRun) -> Membership | None:
    """The machine annotator of the run's model and version of the prompt; None if the project has none."""
    return Membership.objects.filter(project=run.project, user__username=_name(run)).select_related("user").first()


def find_or_add_judge(*, by: User, run: JudgingRun) -> Membership:
    judge = find_judge(run)
    if judge is not None:
        return judge
    user, created = User.objects.get_or_create(username=_name(run))
    if created:
        user.set_unusable_password()
        user.save()
    return mark_machine(
        by=by,
        membership=add_member(by=by, project=run.project, user=user, role=Membership.Role.ANNOTATOR),
        machine=True,
    )


def _name(run: JudgingRun) -> str:
    return f"{run.project.slug}: {run.model}, {run.prompt_version}"[:NAME_LENGTH]
