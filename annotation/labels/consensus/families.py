"""Families of annotators whose errors may be copies of each other's: the judges of one model family."""

import re

from annotation.models import MachineAnnotator, Project

_LETTERS = re.compile(r"[^\W\d_]+")


def families_of(project: Project) -> dict[str, str]:
    """The family of each model judge, by the name that it has in records.

    A machine annotator states its family. If that is only the model's name, or a file names the judge, the family
    follows from the name.
    """
    judges = list(project.label_sources.filter(kind="model_judge").exclude(name=""))
    families = {f"{judge.kind} {judge.name}": family_of(judge.name) for judge in judges}
    for machine in MachineAnnotator.objects.filter(membership__project=project).select_related("membership"):
        stated = machine.family.strip().lower()
        named = family_of(machine.model_name) if machine.family == machine.model_name else stated
        families |= {f"{machine.membership.pseudonym} {version.name}": named for version in judges}
    return families


def family_of(model: str) -> str:
    """The family of a model by its name: the first word after the organisation, without numbers.

    `Qwen/Qwen2.5-72B-Instruct` and `qwen-max` are both `qwen`. A name without letters is a family of its own.
    """
    name = model.rsplit("/", 1)[-1]
    letters = _LETTERS.search(name)
    return letters.group().lower() if letters else name
