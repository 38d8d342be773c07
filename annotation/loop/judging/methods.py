"""The next call for a solution, or its label: by a judge, or by rollouts from its prefixes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotation.files.answer_grading import Answered, grade_answers
from annotation.loop.gateway.policies import PROMPT
from annotation.loop.judging.prefixes import next_prefix, ratings_of, shares_by_step
from annotation.loop.judging.replies import Unreadable, Verdict, read_verdict
from annotation.loop.judging.templates import TEMPLATES, fill, remind
from annotation.models import JudgeCall, JudgedSolution, JudgingRun, Lease, Problem, Step
from prm.encoding import TEXT_SEPARATOR, parse_step
from prm.messages import Message
from prm.splitting import Splitting

LOST_CALLS = 3  # for one solution, before it fails
UNREADABLE_REPLIES = 2  # the reply, and the one to the reminder
PARAGRAPHS = Splitting("blank_lines", "drop")
State = JudgeCall.State


@dataclass
class Hand:
    """A solution that is being judged, with its sampled steps, and its lease in queue mode."""

    judged: JudgedSolution
    steps: Sequence[Step]
    lease: Lease | None = None

    @cached_property
    def is_right(self) -> bool:
        """Whether the solution's own final answer is right; an answer that cannot be graded counts as wrong."""
        solution = self.judged.solution
        if solution.final_answer_correct is not None:
            return solution.final_answer_correct
        answer = Answered(solution.final_answer, self.steps[-1].text, solution.problem.reference_answer or "")
        return grade_answers([answer]) == [True]


@dataclass(frozen=True)
class Question:
    """A call to make: the problem and the steps to continue from, and all of it as it counts for the budget."""

    prefix: int
    samples: int
    message: str
    problem: str
    steps: Sequence[Step] = ()


@dataclass(frozen=True)
class Finished:
    """The label of a solution, with what its source says besides the ratings."""

    verdict: Verdict
    native: dict[str, Any]


@dataclass(frozen=True)
class Failed:
    """The reason why the solution gets no label."""

    error: str


def next_move(hand: Hand) -> Question | Finished | Failed:
    """What to do next for a solution, from the replies that are stored."""
    judged = hand.judged
    calls = list(judged.calls.order_by("attempt"))
    recent = [call for call in calls if call.attempt >= judged.first_attempt]
    if recent and recent[-1].state == State.FAILED:
        return Failed(recent[-1].error)
    if sum(call.state == State.LOST for call in recent) >= LOST_CALLS:
        return Failed(recent[-1].error or Message("judging_calls_lost", n=LOST_CALLS))
    if judged.run.method == JudgingRun.Method.JUDGE:
        return _ask_judge(hand, [call for call in recent if call.state == State.ANSWERED])
    return _roll_out(hand, [call for call in calls if call.state == State.ANSWERED])


def first_move(hand: Hand) -> Question | Finished | Failed:
    """The first call for a solution, which may be unsaved."""
    return _ask_judge(hand, []) if hand.judged.run.method == JudgingRun.Method.JUDGE else _roll_out(hand, [])


def _ask_judge(hand: Hand, answered: Sequence[JudgeCall]) -> Question | Finished | Failed:
    judged, steps, run = hand.judged, hand.steps, hand.judged.run
    fault = None
    for call in answered:
        try:
            return Finished(read_reply(run, call.replies[0], len(steps)), {})
        except Unreadable as error:
            fault = error.fault
    if len(answered) >= UNREADABLE_REPLIES:
        return Failed(Message("judging_reply_unreadable", fault=fault or ""))
    message = fill(run.prompt, judged.solution.problem.text, [step.text for step in steps])
    if fault is not None:
        neutral = run.project.label_scheme.offer_neutral
        message += TEXT_SEPARATOR + remind(TEMPLATES[run.template], fault, len(steps), neutral=neutral)
    return Question(len(steps), 1, message, message)


def read_reply(run: JudgingRun, reply: Mapping[str, Any], steps: int) -> Verdict:
    """The verdict in a stored reply, by the project's ratings. Raises Unreadable."""
    neutral = run.project.label_scheme.offer_neutral
    return read_verdict(run.template, reply["text"], steps=steps, cut=reply["cut"], neutral=neutral)


def _roll_out(hand: Hand, answered: Sequence[JudgeCall]) -> Question | Finished:
    judged, steps, run = hand.judged, hand.steps, hand.judged.run
    rolled: dict[int, list[JudgeCall]] = {}
    for call in answered:
        rolled.setdefault(call.prefix, []).append(call)
    counts = {length: sum(len(call.replies) for call in calls) for length, calls in rolled.items()}
    shares = {length: sum(_graded(call, steps) for call in rolled[length]) / counts[length] for length in rolled}
    unfinished = [length for length, n in counts.items() if n < run.rollouts]
    shares[len(steps)] = float(hand.is_right)
    rule: dict[str, Any] = {"steps": len(steps), "search": run.search, "threshold": run.threshold}
    length = unfinished[0] if unfinished else next_prefix(shares, **rule)
    if length is None:
        return Finished(Verdict(ratings_of(shares, **rule)), {"shares": shares_by_step(shares, len(steps))})
    problem = judged.solution.problem.text
    kept = steps[:length]
    message = TEXT_SEPARATOR.join([run.prompt.replace(PROMPT, problem), *(step.text for step in kept), ""])
    return Question(length, run.rollouts - counts.get(length, 0), message, problem, kept)


def _graded(call: JudgeCall, steps: Sequence[Step]) -> int:
    """How many rollouts of the call reach the right answer; graded once, and stored with the call."""
    if call.right is None:
        call.right = count_right(call.texts, call.judged.solution.problem, steps[: call.prefix])
        call.save(update_fields=["right"])
    return call.right


def count_right(texts: Sequence[str], problem: Problem, begun: Sequence[Step]) -> int:
    """How many texts that continue the steps reach the right answer. One that cannot be graded does not."""
    answers = [Answered(None, _last_step(text) or begun[-1].text, problem.reference_answer or "") for text in texts]
    return grade_answers(answers).count(True)


def _last_step(text: str) -> str:
    written = PARAGRAPHS.split(text).steps
    return parse_step(written[-1]).text if written else ""
