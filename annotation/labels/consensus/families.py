"""Families of annotators whose errors may be copies of each other's: the judges of one model family."""

from annotation.core.membership.machines import family_of
from annotation.models import MachineAnnotator, Project


def families_of(project: Project) -> dict[str, str]:
    """The family of each model judge, by the name that it has in records.

    A machine annotator states its family. That of a judge that a file names follows from the name.
    """
    judges = list(project.label_sources.filter(kind="model_judge").exclude(name=""))
    families = {f"{judge.kind} {judge.name}": family_of(judge.name) for judge in judges}
    for machine in MachineAnnotator.objects.filter(membership__project=project).select_related("membership"):
        family = machine.family.lower()
        families |= {f"{machine.membership.pseudonym} {version.name}": family for version in judges}
    return families
