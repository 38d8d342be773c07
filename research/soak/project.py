"""The project of a soak test: a sandbox world, simulated members with tokens, a policy with automatic rounds."""

from pathlib import Path

import msgspec
from django.contrib.auth.models import User

from annotation.core.membership.members import add_member
from annotation.core.membership.projects import create_project
from annotation.core.membership.tokens import issue_token
from annotation.files.record_import import import_records
from annotation.loop.gateway.sandbox import Sandbox
from annotation.loop.selection.generations import open_first_generation
from annotation.models import Project
from research.soak.people import Person

SLUG = "soak"
TOLERANCE = 0.05
# Nine tabs of eight people; one person has two.
TABS = ("careful", "careful", "careful", "careful", "average", "average", "average", "hasty", "lenient")
SECOND_TAB_OF = {6: 5}
# How many times slower some people work, so that most labels are not from those who make most errors.
SLOWER = {"hasty": 6.0, "lenient": 2.0}


def create(*, solutions: int, budget: int, control: float, seed: int) -> tuple[Project, User]:
    """Create the project; a round is due when nine tenths of a generation are labelled."""
    manager = User.objects.create_user("soak-manager", is_staff=True)
    policy = {
        "training_sources": ["human", "simulated"],
        "generation_budget": budget,
        "queue": {"lease_minutes": 1, "heartbeat_seconds": 20},
        "rounds": {"after_labels": round(0.9 * budget)},
        "mix": {"control": control, "holdout": 0.25, "calibration": 0.1, "overlap": 0.12},
        "gate_tolerance": TOLERANCE,
    }
    project = create_project(by=manager, name="Soak", slug=SLUG, policy=policy)
    import_records(project=project, records=Sandbox(solutions=solutions, seed=seed).records(), by=manager)
    open_first_generation(by=manager, project=project, seed=seed)
    return project, manager


def hire(
    project: Project, manager: User, *, address: str, folder: Path, solutions: int, seed: int, hurry: float
) -> list[Path]:
    """Create members and tokens; returns a configuration file for each tab."""
    users: list[User] = []
    files = []
    for number, profile in enumerate(TABS):
        if number in SECOND_TAB_OF:
            users.append(users[SECOND_TAB_OF[number]])
        else:
            users.append(User.objects.create_user(f"soak-{number}-{profile}"))
            add_member(by=manager, project=project, user=users[-1], role="annotator", kind="simulated")
        person = Person(
            name=f"{number}-{profile}",
            profile=profile,
            token=issue_token(by=users[-1], name="soak", scopes=("claim", "submit"))[1],
            address=address,
            project=project.slug,
            folder=str(folder),
            solutions=solutions,
            world_seed=seed,
            seed=seed + number,
            hurry=hurry / SLOWER.get(profile, 1.0),
        )
        files.append(folder / f"{person.name}.json")
        files[-1].write_bytes(msgspec.json.encode(person))
    return files
