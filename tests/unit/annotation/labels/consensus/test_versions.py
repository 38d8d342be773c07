"""Two versions of a machine annotator are two labellers of a consensus, of one family."""

import pytest

from annotation.core.membership.machines import MachineSetup, change_machine
from annotation.labels.consensus.consensus import person_of
from annotation.labels.consensus.evidence import families_of
from annotation.models.consensus_fit import AnnotatorFigures
from labelling_ui.pages.people import fitted_annotators
from prm.consensus import Reliability
from prm.formats.record import RecordAnnotation
from tests.factories import MachineAnnotatorFactory, MembershipFactory

pytestmark = pytest.mark.django_db


def test_versions_are_apart_and_of_one_family():
    machine = MachineAnnotatorFactory(membership__user__username="judge", family="qwen")
    project, first = machine.membership.project, machine.source.name
    manager = MembershipFactory(project=project, role="manager")
    setup = MachineSetup(model_name="judge-7b", prompt_version="2", family="qwen")
    second = change_machine(by=manager.user, machine=machine, setup=setup).source.name
    pseudonym = str(machine.membership.pseudonym)
    people = [
        person_of(RecordAnnotation("model_judge", "solution", [], source_name=name, annotator=pseudonym))
        for name in (first, second)
    ]
    assert len(set(people)) == 2
    assert {families_of(project)[person] for person in people} == {"qwen"}
    assert person_of(RecordAnnotation("human", "solution", [], annotator=pseudonym)) == pseudonym
    figures = [AnnotatorFigures(person, Reliability(0.5, 0.4, 0.6, 10), "qwen") for person in people]
    rows = fitted_annotators(project, figures)
    assert {row.shown for row in rows} == {f"judge (machine), {name}" for name in (first, second)}
    assert {row.query for row in rows} == {f"annotator={pseudonym}"}


def test_a_stated_family_holds_also_where_it_is_the_name_of_one_of_its_models():
    first = MachineAnnotatorFactory(membership__user__username="first", model_name="judge-a", family="judge-a")
    project = first.membership.project
    copy = MachineAnnotatorFactory(
        membership__user__username="copy", membership__project=project, family="judge-a", source=first.source
    )
    families = families_of(project)
    assert {families[f"{one.membership.pseudonym} {first.source.name}"] for one in (first, copy)} == {"judge-a"}
