"""Promotes the challenger if the gate decided so."""

from annotation.core.stages import Outcome
from annotation.loop import registry
from annotation.loop.rounds.work import StageWork
from annotation.models import ModelVersion
from prm.messages import Message


def perform(work: StageWork) -> Outcome:
    if work.run.model_version is None:
        return Outcome(Message("no_new_model"), skipped=True)
    version = work.version
    version.refresh_from_db()
    assert version.gate is not None, "the gate stage runs before"
    champion = registry.champion_of(work.project)
    if not version.gate.promote:
        goes_on = Message("model_goes_on_serving", number=champion.number) if champion else Message("no_model_serves")
        return Outcome(goes_on, skipped=True)
    if champion != version:
        if champion is not None and champion.pinned:
            return Outcome(Message("pinned_model_goes_on_serving", number=champion.number), skipped=True)
        is_challenger = version.state == ModelVersion.State.CHALLENGER
        if champion is not None and (champion.number != version.metrics.champion or not is_challenger):
            # A manager chose this champion: the gate compared another one, or this version served and was replaced.
            return Outcome(Message("chosen_model_goes_on_serving", number=champion.number), skipped=True)
        registry.crown(by=work.run.requested_by, version=version, reason=version.gate.sentence)
    return Outcome(Message("model_serves", number=version.number))
