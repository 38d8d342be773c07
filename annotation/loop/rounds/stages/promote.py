"""Let the challenger serve, where the gate said so."""

from annotation.core.stages import Outcome
from annotation.core.wording import said, told
from annotation.loop import registry
from annotation.loop.rounds.work import StageWork
from annotation.models import ModelVersion


def perform(work: StageWork) -> Outcome:
    if work.run.model_version is None:
        return Outcome(said("no new model"), skipped=True)
    version = work.version
    version.refresh_from_db()
    if not version.gate["promote"]:
        champion = registry.champion_of(work.project)
        return Outcome(
            said("model {number} goes on serving", number=champion.number) if champion else said("no model serves"),
            skipped=True,
        )
    if version.state == ModelVersion.State.CHALLENGER:
        champion = registry.champion_of(work.project)
        if champion is not None and champion.pinned:
            return Outcome(said("model {number} is pinned and goes on serving", number=champion.number), skipped=True)
        if champion is not None and champion.number != version.measurement.champion:
            # The gate compared it with another model: nothing says that it is better than this one.
            return Outcome(
                said("model {number}, chosen by hand meanwhile, goes on serving", number=champion.number), skipped=True
            )
        registry.crown(by=work.run.requested_by, version=version, reason=told(version.gate))
    return Outcome(said("model {number} serves", number=version.number))
