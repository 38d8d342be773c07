"""Turns a policy's text into a record: splits it into steps, grades it and adds its provenance."""

from typing import cast

from annotation.files.answer_grading import answer_in, grade_records
from annotation.files.preparing import prepare_record
from annotation.loop.gateway.policies import Sample
from annotation.models import Problem, SamplingRun
from prm.encoding import parse_step
from prm.formats.record import Completion, Provenance, Record, Rejection
from prm.messages import Message
from prm.vocabulary import StepKind

GENERATOR_LENGTH = 200


def record_of(run: SamplingRun, problem: Problem, sample: Sample, number: int) -> Record | Rejection:
    """The sample as a solution of the problem, or the reason for rejecting it."""
    if sample.cut:
        return Rejection(line=number, field="solution", reason=Message("sample_cut", n=run.max_tokens))
    if "\0" in sample.text:
        return Rejection(line=number, field="solution", reason=Message("sample_with_nul"))
    record = Record(
        problem=problem.text,
        positions=[],
        solution_text=sample.text,
        source_group=problem.source_group,
        domain=problem.domain,
        reference_answer=problem.reference_answer,
        external_id=f"{run.name}-{problem.pk}-{number}",
        generator=run.model[:GENERATOR_LENGTH],
        provenance=provenance(run),
    )
    ready = prepare_record(number, record, run.splitting)
    if isinstance(ready, Record):
        # A step may begin with its kind: "[tool_call] rate("crowns")".
        ready.positions = [[_of_kind(step) for step in completions] for completions in ready.positions]
        ready.final_answer = answer_in(ready.positions[-1][0].text)
        grade_records([ready])
    return ready


def _of_kind(step: Completion) -> Completion:
    parsed = parse_step(step.text)
    return step if parsed.text == step.text else Completion(parsed.text, cast(StepKind, parsed.kind))


def provenance(run: SamplingRun) -> Provenance:
    """How the run samples its solutions; stored with each of them."""
    return Provenance(
        policy=run.model,
        temperature=run.temperature,
        seed=run.seed,
        prompt=run.prompt,
        visibility="raw",
        run=run.name,
        settings={
            "max_tokens": run.max_tokens,
            "endpoint": run.endpoint,
            "decomposition": run.decomposition,
            "thinking": run.thinking,
        },
    )
