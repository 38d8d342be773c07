"""Which model version answers a program."""

from annotation.core.errors import Conflict
from annotation.core.wording import said
from annotation.loop import registry
from annotation.models import ModelVersion, Project


def choose_version(project: Project, *, domain: str = "", named: ModelVersion | None = None) -> ModelVersion:
    """The version `named` by the caller, else the champion of the domain or the project.

    Raises DomainError (`unknown_domain`), Conflict (`no_champion`, `unmeasured_model`).
    """
    if domain:
        registry.check_domain(project, domain)
    version = named or registry.champion_for(project, domain)
    if version is None:
        raise Conflict("no_champion", said("No model serves this project yet. Retrain it, or let a model serve."))
    if not version.answers_programs:
        raise Conflict(
            "unmeasured_model",
            said(
                "Model {n} was not measured on this project's holdout, so it does not answer programs. A manager can "
                "confirm it on the model's page; or label more of the holdout and retrain.",
                n=version.number,
            ),
            {"model": version.number},
        )
    return version
