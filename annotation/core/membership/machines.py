"""Machine annotators: members whose labels are a model judge's. Their accounts cannot sign in."""

import re
from typing import Annotated

from django.contrib.auth.models import User
from django.db import transaction
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from annotation.core import audit
from annotation.core.bounds import Money, NonBlank, check_fields
from annotation.core.errors import Conflict
from annotation.core.membership.access import find_project, require_role
from annotation.core.membership.accounts import check_username, find_account
from annotation.core.membership.members import add_member
from annotation.core.reading import find_row
from annotation.models import LabelSource, MachineAnnotator, Membership, Project
from prm.messages import Message

_LETTERS = re.compile(r"[^\W\d_]+")
MANAGER = Membership.Role.MANAGER


class MachineSetup(Struct, kw_only=True):
    """What labels as a machine annotator."""

    model_name: Annotated[NonBlank, Meta(max_length=100, description="The name of the model.")]
    prompt_version: Annotated[
        NonBlank,
        Meta(
            max_length=50,
            description="The version of the prompt. Labels of another version have another source.",
        ),
    ]
    family: Annotated[
        str,
        Meta(
            max_length=100,
            description="Machines of one family tend to make the same errors. "
            "Default: the first word of the model's name.",
        ),
    ] = ""
    cost_per_label: Money | None = None


@transaction.atomic
def add_machine(*, by: User, project: Project, name: str, setup: MachineSetup) -> MachineAnnotator:
    """Add a machine annotator under this name, with an account that only its tokens can use.

    Raises Forbidden, DomainError (`invalid_username`, `invalid_machine`), Conflict (`username_taken`).
    """
    require_role(by, project, MANAGER)
    name = User.normalize_username(name.strip())
    check_username(name)
    setup = _checked(setup)
    known = find_account(name)
    user, created = (known, False) if known else User.objects.get_or_create(username=name)
    if not created:
        raise Conflict(Message("username_taken", name=user.username), {"field": "name"})
    user.set_unusable_password()
    user.save(update_fields=["password"])
    membership = add_member(
        by=by, project=project, user=user, role=Membership.Role.ANNOTATOR, kind=Membership.Kind.MACHINE
    )
    machine = MachineAnnotator.objects.create(membership=membership, source=_source(project, setup), **asdict(setup))
    audit.record(by=by, action="machine.add", target=machine, project=project, after=asdict(setup))
    return machine


@transaction.atomic
def change_machine(*, by: User, machine: MachineAnnotator, setup: MachineSetup) -> MachineAnnotator:
    """Change what labels as this member. Labels of another model or prompt version get another source.

    Raises Forbidden, DomainError (`invalid_machine`).
    """
    project = machine.membership.project
    require_role(by, project, MANAGER)
    setup = _checked(setup)
    machine = MachineAnnotator.objects.select_for_update(no_key=True).get(pk=machine.pk)
    before = asdict(setup_of(machine))
    for field, value in asdict(setup).items():
        setattr(machine, field, value)
    machine.source = _source(project, setup)
    machine.save()
    audit.record(by=by, action="machine.change", target=machine, project=project, before=before, after=asdict(setup))
    return machine


def setup_of(machine: MachineAnnotator | MachineSetup) -> MachineSetup:
    """The setup alone of a machine annotator, or of one to add."""
    return MachineSetup(**{name: getattr(machine, name) for name in MachineSetup.__struct_fields__})


def find_machine(*, by: User, slug: str, member_id: int) -> MachineAnnotator:
    """The machine annotator with this membership, for managers. Raises Missing (`machine_not_found`), Forbidden."""
    project = find_project(by, slug, MANAGER)
    machines = MachineAnnotator.objects.select_related("membership__user", "membership__project", "source")
    rows = machines.filter(membership__project=project, membership=member_id)
    return find_row(rows, Message("machine_not_found", name=project.name))


def _checked(setup: MachineSetup) -> MachineSetup:
    """The setup with blanks removed and its family filled in. Raises DomainError (`invalid_machine`)."""
    model, version, family = setup.model_name.strip(), setup.prompt_version.strip(), setup.family.strip()
    setup = replace(setup, model_name=model, prompt_version=version, family=family or family_of(model))
    check_fields(setup, code="invalid_machine")
    return setup


def _source(project: Project, setup: MachineSetup) -> LabelSource:
    """The source of labels by this version. Its name has the version too, so that no list pools two versions."""
    detail = {"model": setup.model_name, "prompt_version": setup.prompt_version}
    source, _created = LabelSource.objects.get_or_create(
        project=project,
        kind="model_judge",
        name=f"{setup.model_name}, prompt {setup.prompt_version}",
        defaults={"detail": detail},
    )
    return source


def family_of(model: str) -> str:
    """The family of a model by its name: the first word after the organisation, without numbers.

    `Qwen/Qwen2.5-72B-Instruct` and `qwen-max` are both `qwen`. A name without letters is a family of its own.
    """
    name = model.rsplit("/", 1)[-1]
    letters = _LETTERS.search(name)
    return letters.group().lower() if letters else name
