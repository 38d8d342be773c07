"""Does what the benchmark needs besides our API, in a separate process; prints JSON.

people N               a manager and N annotators: the secrets of their tokens
join SLUG              let the annotators into a project
session                the name and value of the session cookie of the first annotator
places SLUG ID...      the places that solutions have in a project's queue
pool N                 the numbers of the first N solutions whose problems are in the pool
"""

import json
import sys
from itertools import count, islice

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.test import Client  # noqa: E402

from annotation.core.membership.members import add_member  # noqa: E402
from annotation.core.membership.tokens import issue_token  # noqa: E402
from annotation.files.identity import assign_split, source_group_of  # noqa: E402
from annotation.models import Membership, Project, QueueItem, Scope  # noqa: E402
from benchmarks.label_studio.solutions import solution  # noqa: E402

MANAGER = "manager"


def people(number: str) -> list[str]:
    users = [User.objects.create_user(MANAGER, is_staff=True)]
    users += [User.objects.create_user(f"annotator{place}") for place in range(int(number))]
    return [issue_token(by=user, name="benchmark", scopes=Scope.values, for_person=True)[1] for user in users]


def join(slug: str) -> None:
    manager, project = User.objects.get(username=MANAGER), Project.objects.get(slug=slug)
    for user in User.objects.filter(username__startswith="annotator"):
        add_member(by=manager, project=project, user=user, role=Membership.Role.ANNOTATOR)


def session() -> list[str]:
    browser = Client()
    person = User.objects.get(username="annotator0")
    browser.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
    return [settings.SESSION_COOKIE_NAME, browser.cookies[settings.SESSION_COOKIE_NAME].value]


def places(slug: str, *solutions: str) -> list[int]:
    order = list(QueueItem.objects.filter(project__slug=slug).order_by("rank", "id").values_list("solution", flat=True))
    return [order.index(int(solution)) + 1 for solution in solutions]


def pool(number: str) -> list[int]:
    splits = ((place, assign_split(source_group_of(solution(place).problem))) for place in count())
    return list(islice((place for place, split in splits if split == "pool"), int(number)))


if __name__ == "__main__":
    verbs = {"people": people, "join": join, "session": session, "places": places, "pool": pool}
    print(json.dumps(verbs[sys.argv[1]](*sys.argv[2:])))
