"""Which model version answers a program."""

from annotation.core.errors import Conflict
from annotation.loop import registry
from annotation.models import ModelVersion, Project
from prm.messages import Message


def choose_version(project: Project, *, domain: str = "", named: ModelVersion | None = None) -> ModelVersion:
    """The version `named` by the caller, else the champion of the domain or the project.

    Raises DomainError (`unknown_domain`), Conflict (`no_champion`, `unmeasured_model`).
    """
    if domain:
        registry.check_domain(project, domain)
    version = named or registry.champion_for(project, domain)
    if version is None:
        raise Conflict(Message("no_champion"))
    if not version.answers_programs:
        raise Conflict(Message("unmeasured_model", n=version.number), {"model": version.number})
    return version
