"""Decides whether the challenger serves, and why."""

from collections.abc import Collection

from annotation.core.stages import Outcome
from annotation.labels.datasets.snapshots import read_snapshot
from annotation.loop import registry
from annotation.loop.gateway.measuring import compare
from annotation.loop.gateway.traces import holdout_traces
from annotation.loop.registry.verdict import decide
from annotation.loop.rounds.stages.evaluate import BASELINE, CHALLENGER, CHAMPION, HOLDOUT
from annotation.loop.rounds.work import StageWork
from annotation.models.model_version import Verdict
from prm.evaluation import Comparison
from prm.messages import Message


def perform(work: StageWork) -> Outcome:
    if work.run.model_version is None:
        return Outcome(Message("no_new_model"), skipped=True)
    policy, version = work.project.policies, work.version
    verdict = version.gate
    if verdict is None:
        champion, known = version.metrics.champion, version.metrics.holdout_solutions
        measured = newer = None
        if known >= policy.gate_min_holdout:
            measured = _measure(work, BASELINE if champion is None else CHAMPION)
            chosen_on = set() if champion is None else _solutions_that_chose(work, champion)
            newer = _measure(work, CHAMPION, without=chosen_on) if chosen_on else None
        verdict = registry.record_verdict(
            version=version,
            verdict=decide(
                challenger=version.number,
                champion=champion,
                measured=measured,
                newer=newer,
                solutions=known,
                tolerance=policy.gate_tolerance,
                least=policy.gate_min_holdout,
                holdout_uses=_holdout_uses(work),
            ),
        )
        work.log(verdict.sentence)
    return Outcome(_figure(verdict))


def _figure(verdict: Verdict) -> Message:
    decision = Message("gate_promoted") if verdict.promote else Message("gate_kept_back")
    if verdict.gain is None:
        return Message("gate_decision_unmeasured", decision=decision)
    return Message("gate_decision", decision=decision, gain=verdict.gain * 100, rival=verdict.rival)


def _measure(work: StageWork, rival: str, without: Collection[str] = ()) -> Comparison | None:
    thresholds = work.version.metrics.thresholds
    return compare(
        work.folder / f"{HOLDOUT}.jsonl",
        challenger=work.folder / f"{CHALLENGER}.jsonl",
        rival=work.folder / f"{rival}.jsonl",
        thresholds=(thresholds[CHALLENGER], thresholds[rival]),
        seed=work.run.seed,
        without=without,
    )


def _solutions_that_chose(work: StageWork, champion: int) -> set[str]:
    """The ids of the holdout solutions whose labels the champion's promotion may rest on.

    They flatter the champion: it was promoted because it did well on them.
    """
    versions = work.project.model_versions.exclude(snapshot=None).select_related("snapshot")
    promoted_at = work.project.model_versions.get(number=champion).promoted_at
    known = versions.filter(number=champion) if promoted_at is None else versions.filter(created_at__lte=promoted_at)
    latest = known.order_by("-number").first()
    if latest is None or latest.snapshot is None:
        return set()
    return {trace.id for trace in holdout_traces(read_snapshot(latest.snapshot))}


def _holdout_uses(work: StageWork) -> int:
    """How many earlier gates this project's holdout has decided."""
    judged = work.project.model_versions.filter(gate__isnull=False).exclude(pk=work.version.pk)
    return judged.exclude(gate__gain=None).count()
