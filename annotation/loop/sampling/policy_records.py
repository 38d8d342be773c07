"""Turns a policy's text into a record: splits it into steps, grades it and adds its provenance."""

from annotation.files.answer_grading import answer_in, grade_records
from annotation.files.preparing import prepared
from annotation.loop.gateway.policies import Sample, step_in
from annotation.models import Problem, SamplingRun
from prm.formats.record import Completion, Provenance, Record, Rejection
from prm.messages import Message

GENERATOR_LENGTH = 200


def record_of(run: SamplingRun, problem: Problem, sample: Sample, number: int) -> Record | Rejection:
    """The sample as a solution of the problem, or why it is none."""
    if sample.cut:
        return Rejection(
            line=number,
            field="solution",
            reason=Message("sample_cut", n=run.max_tokens),
        )
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
    ready = prepared(number, record, run.splitting)
    if isinstance(ready, Record):
        ready.positions = [[Completion(*step_in(step.text)) for step in at] for at in ready.positions]
        ready.final_answer = answer_in(ready.positions[-1][0].text)
        grade_records([ready])
    return ready


def provenance(run: SamplingRun) -> Provenance:
    """How a solution was sampled, stored with it."""
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
