"""The project that a command names."""

from django.core.management.base import CommandError

from annotation.models import Project


def find_project_by_slug(slug: str) -> Project:
    """The project. Raises CommandError that lists the existing projects."""
    try:
        return Project.objects.get(slug=slug)
    except Project.DoesNotExist:
        known = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)) or "none yet"
        raise CommandError(f"There is no project '{slug}'. Choose one of: {known}.") from None
