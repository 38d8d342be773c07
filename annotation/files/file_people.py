"""People whose labels came in a file: members without an account."""

import uuid
from collections.abc import Mapping
from typing import NamedTuple

from django.db.models import Q

from annotation.models import Membership, Project
from prm.vocabulary import MACHINES, SourceKind


class FilePerson(NamedTuple):
    """A member, by id and pseudonym."""

    id: int
    pseudonym: str


def find_or_create(project: Project, kinds: Mapping[str, SourceKind]) -> dict[str, FilePerson]:
    """The member of each name in a file, given the kind of one of their labels.

    A name is the pseudonym of a member, else the name of a person from an earlier file. Any other name becomes a
    member without an account. A name that is a UUID is a pseudonym already and is kept; others get a random one.
    """
    pseudonyms = {name: pseudonym for name in kinds if (pseudonym := _pseudonym_in(name))}
    stored = Membership.objects.filter(
        Q(pseudonym__in=pseudonyms.values()) | Q(name_in_file__in=kinds), project=project
    ).values_list("id", "pseudonym", "name_in_file")
    people = {}
    by_pseudonym = {}
    for pk, pseudonym, name_in_file in stored:
        by_pseudonym[pseudonym] = FilePerson(pk, str(pseudonym))
        if name_in_file is not None:
            people[name_in_file] = by_pseudonym[pseudonym]
    people |= {name: by_pseudonym[known] for name, known in pseudonyms.items() if known in by_pseudonym}
    new = [
        Membership(
            project=project,
            name_in_file=name,
            role=Membership.Role.ANNOTATOR,
            active=False,
            pseudonym=pseudonyms.get(name) or uuid.uuid4(),
            kind=_kind_of(kind),
        )
        for name, kind in kinds.items()
        if name not in people
    ]
    for member in Membership.objects.bulk_create(new):
        people[str(member.name_in_file)] = FilePerson(member.pk, str(member.pseudonym))
    return people


def _kind_of(source: SourceKind) -> str:
    if source == "simulated":
        return Membership.Kind.SIMULATED
    return Membership.Kind.MACHINE if source in MACHINES else Membership.Kind.PERSON


def _pseudonym_in(name: str) -> uuid.UUID | None:
    """The UUID that the name is, in its usual form."""
    try:
        parsed = uuid.UUID(name)
    except ValueError:
        return None
    return parsed if str(parsed) == name else None
