"""Hands an item whose judges have answered to a person, if their labels or an audit ask for one."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Count, Q

from annotation.core import audit
from annotation.models import Annotation, Generation, HandOver, QueueItem, Route, Taker
from annotation.models.routing_policy import RouteRule, doubt_of
from annotation.work.queue.items import hand_over
from prm.vocabulary import FINISHED


class JudgeAnswer(NamedTuple):
    """A judge's label: its first error (-1 for none; None if it gave up), and how many steps it was unsure of."""

    first_error: int | None
    unsure: int = 0


def reason_for(rule: RouteRule, answers: Sequence[JudgeAnswer], error: float | None) -> HandOver | None:
    """Why a person must follow the judges, by a rule of the route "judge, then a person"; None if nobody must.

    `error` is the champion's probability that the solution has an error, None without a score.
    """
    if any(answer.first_error is None for answer in answers):
        return HandOver.GAVE_UP
    if any(answer.unsure >= rule.unsure_steps for answer in answers):
        return HandOver.UNSURE
    found = {answer.first_error for answer in answers}
    if rule.judges_differ and len(found) > 1:
        return HandOver.JUDGES_DIFFER
    if error is None:
        return None
    against = max(error if first_error == -1 else 1 - error for first_error in found)
    if rule.model_against is not None and against > rule.model_against:
        return HandOver.MODEL_AGAINST
    if rule.model_doubt is not None and doubt_of(error) >= rule.model_doubt:
        return HandOver.MODEL_DOUBT
    return None


def follow_judges(item: QueueItem) -> None:
    """Hand an item whose last judge has answered to a person, if its rule or an audit asks for one.

    The caller has locked the item in this transaction, which stores the judge's label.
    """
    if item.taker != Taker.MACHINE or item.done < item.wanted:
        return
    reason = None
    if item.route == Route.JUDGE_THEN_PERSON and item.rule is not None:
        rule = Generation.objects.get(pk=item.generation_id).recipe.routes[item.rule]
        reason = reason_for(rule, _answers(item), item.predicted_error)
    if reason is None and item.audited:
        reason = HandOver.AUDIT
    if reason is not None:
        hand_over(item, reason)
        item.save(update_fields=["taker", "handed_over", "wanted", "state"])
        audit.record(by=None, action="queue.hand_over", target=item, after={"reason": reason})


def _answers(item: QueueItem) -> list[JudgeAnswer]:
    labels = Annotation.objects.filter(item=item, counted=True).annotate(
        unsure=Count("ratings", filter=Q(ratings__state="unsure"))
    )
    return [
        JudgeAnswer(label.first_error if label.finish_reason in FINISHED else None, label.unsure) for label in labels
    ]
