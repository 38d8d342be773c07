"""What traces say of their makers is counted, and what they do not say is not guessed."""

from prm.manifest import provenance_of
from prm.traces import LabelSource, Step, Trace


def solution(name: str, *sources: LabelSource, generator: str = "policy", kind: str = "reasoning") -> Trace:
    return Trace(name, "p", [Step("s", kind)], domain="maths", generator=generator, sources=list(sources))


def test_generators_people_and_machines_are_counted_by_solution() -> None:
    ann, ben = LabelSource("human", "ann", 0), LabelSource("human", "ben", -1)
    judge = LabelSource("model_judge", "judge-7b", 0)
    found = provenance_of(
        [
            solution("a", ann, ben, judge),
            solution("b", ann, judge),
            solution("c", generator=""),
            solution("d", kind="tool_call"),
        ]
    )
    assert found.generators == {"policy": 3, "": 1}
    assert found.label_sources == {"": 2, "human": 2, "model_judge": 2}
    assert (found.people, found.machines) == (2, {"model_judge: judge-7b": 2})
    assert (found.pairs, found.agreeing_pairs, found.with_tools, found.solutions) == (1, 0, 1, 4)


def test_agreement_is_of_pairs_of_people_by_their_latest_word() -> None:
    def person(name, error):
        return LabelSource("human", name, error)

    found = provenance_of(
        [
            solution("a", person("ann", 2), person("ben", 2), person("cem", 1)),
            solution("b", person("ann", 0), person("ann", -1), person("ben", -1)),
            solution("c", person("ann", 0), person("ben", None), person("", 0), LabelSource("simulated", "sim", 0)),
        ]
    )
    assert (found.pairs, found.agreeing_pairs, found.people) == (4, 2, 3)
