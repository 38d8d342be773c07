"""A project in which people and a judge divide the labour: an hour costs 60, and a judge's label 0.1."""

from tests.factories import (
    AnnotationFactory,
    LabelSourceFactory,
    MachineAnnotatorFactory,
    MembershipFactory,
    ProblemFactory,
    QueueItemFactory,
    SolutionFactory,
)

MINUTE = 60_000
COSTS = {"hour": 60}


def make_workers(project):
    """A judge and a person."""
    machine = MachineAnnotatorFactory(membership__project=project, cost_per_label=0.1)
    return machine, MembershipFactory(project=project)


def queue(world, answers, domain="algebra", **fields):
    """A done item with these labels: (who, first error), where who is "judge" or "person"."""
    generation, machine, person = world
    problem = ProblemFactory(project=generation.project, domain=domain)
    item = QueueItemFactory(
        generation=generation,
        solution=SolutionFactory(project=generation.project, problem=problem),
        **{"lane": "acquisition", "state": "done", "done": len(answers), "wanted": len(answers)} | fields,
    )
    for who, first_error in answers:
        judge = who == "judge"
        source = machine.source if judge else LabelSourceFactory(project=generation.project)
        AnnotationFactory(
            solution=item.solution,
            item=item,
            annotator=machine.membership if judge else person,
            source=source,
            counted=True,
            first_error=first_error,
            total_ms=None if judge else 2 * MINUTE,
        )
    return item


JUDGED = {"route": "judge", "taker": "machine", "audit_probability": 0.5}
AUDITED = {"route": "judge", "audit_probability": 0.5, "audited": True, "handed_over": "audit"}


def divide_labour(generation):
    """People's, judged, audited and handed-over items in two domains: what the page shows."""
    world = (generation, *make_workers(generation.project))
    both = {"route": "judge_then_person", "rule": 1, "audit_probability": 0.1}
    for domain, wrong in (("algebra", 2), ("geometry", 5)):
        for place in range(20):
            found = 1 if place < wrong else -1
            queue(world, [("person", -1)], domain)
            queue(world, [("judge", -1)], domain, **JUDGED)
            queue(world, [("judge", -1), ("person", found)], domain, **AUDITED)
            queue(world, [("judge", -1), ("person", found)], domain, **both, handed_over="model_doubt")
            queue(world, [("judge", -1), ("person", -1)], domain, **both, audited=True, handed_over="audit")
