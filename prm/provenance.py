"""Where labelled solutions and their labels come from, as far as the traces say. No torch."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

import msgspec

from prm.traces import LabelSource, Trace
from prm.vocabulary import MACHINES, TOOL_STEPS

PEOPLE = frozenset({"human"})


class Provenance(msgspec.Struct, omit_defaults=True):
    """Counts of solutions, by name; "" stands for what the traces do not say.

    `label_sources` counts by kind of source, a solution once for each kind that labelled it. `people` are distinct
    names of humans, `machines` counts by name of a machine. `agreeing_pairs` of `pairs` of human labels of one
    solution name the same first error.
    """

    solutions: int
    generators: dict[str, int]
    domains: dict[str, int]
    label_sources: dict[str, int]
    people: int = 0
    machines: dict[str, int] = {}
    pairs: int = 0
    agreeing_pairs: int = 0
    with_tools: int = 0
    with_known_answer: int = 0


def provenance_of(traces: Sequence[Trace]) -> Provenance:
    """Count what the traces say of themselves."""
    pairs = [pair for trace in traces for pair in combinations(_first_errors(trace), 2)]
    named = (f"{s.kind}: {s.name or '(no name)'}" for trace in traces for s in _once(trace) if s.kind in MACHINES)
    return Provenance(
        solutions=len(traces),
        generators=_counted(trace.generator for trace in traces),
        domains=_counted(trace.domain for trace in traces),
        label_sources=_counted(kind for trace in traces for kind in ({s.kind for s in trace.sources} or {""})),
        people=len({s.name for trace in traces for s in trace.sources if s.kind in PEOPLE and s.name}),
        machines=_counted(named),
        pairs=len(pairs),
        agreeing_pairs=sum(a == b for a, b in pairs),
        with_tools=sum(any(step.kind in TOOL_STEPS for step in trace.steps) for trace in traces),
        with_known_answer=sum(trace.final_answer_correct is not None for trace in traces),
    )


def _first_errors(trace: Trace) -> list[int]:
    """What each person took for the first error, the latest word of those who spoke twice."""
    errors = {s.name: s.first_error for s in trace.sources if s.kind in PEOPLE and s.name and s.first_error is not None}
    return list(errors.values())


def _once(trace: Trace) -> list[LabelSource]:
    return list({(source.kind, source.name): source for source in trace.sources}.values())


def _counted(names: Iterable[str]) -> dict[str, int]:
    """How often each name comes, the most frequent first."""
    return dict(Counter(names).most_common())
