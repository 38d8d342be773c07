"""Decide whether the challenger serves, and say why."""

from typing import Any

from annotation.core.stages import Outcome
from annotation.core.wording import message_of
from annotation.loop import registry
from annotation.loop.gateway.measuring import compare
from annotation.loop.registry.verdict import Measured, decide
from annotation.loop.rounds.stages.evaluate import BASELINE, CHALLENGER, CHAMPION, HOLDOUT
from annotation.loop.rounds.work import StageWork
from prm.messages import Message


def perform(work: StageWork) -> Outcome:
    if work.run.model_version is None:
        return Outcome(Message("no_new_model"), skipped=True)
    policy, version = work.project.policies, work.version
    if not version.gate:
        champion, known = version.measurement.champion, version.measurement.holdout_solutions
        measured = None
        if known >= policy.gate_min_holdout:
            measured = _measure(work, BASELINE if champion is None else CHAMPION)
        verdict = decide(
            challenger=version.number,
            champion=champion,
            measured=measured,
            solutions=known,
            tolerance=policy.gate_tolerance,
            least=policy.gate_min_holdout,
            holdout_uses=_holdout_uses(work),
        )
        registry.record_verdict(version=version, verdict=verdict)
        work.log(verdict.sentence)
    return Outcome(_figure(version.gate))


def _figure(verdict: dict[str, Any]) -> Message:
    decision = Message("gate_promoted") if verdict["promote"] else Message("gate_kept_back")
    if verdict["gain"] is None:
        return Message("gate_decision_unmeasured", decision=decision)
    return Message("gate_decision", decision=decision, gain=verdict["gain"] * 100, rival=message_of(verdict, "rival"))


def _measure(work: StageWork, rival: str) -> Measured | None:
    thresholds = work.version.measurement.thresholds
    return compare(
        work.folder / f"{HOLDOUT}.jsonl",
        challenger=work.folder / f"{CHALLENGER}.jsonl",
        rival=work.folder / f"{rival}.jsonl",
        thresholds=(thresholds[CHALLENGER], thresholds[rival]),
        seed=work.run.seed,
    )


def _holdout_uses(work: StageWork) -> int:
    """Gates that this project's holdout has decided before this one."""
    measured = work.project.model_versions.filter(gate__gain__isnull=False).exclude(pk=work.version.pk)
    return measured.count()
