"""What the benchmark needs of our platform beside its API, in a process of its own; prints JSON.

people N               a manager and N annotators: the secrets of their tokens
join SLUG              let the annotators into a project
session                the name and value of a cookie by which the first annotator is signed in
settle                 bring the planner's statistics up to date
"""

import json
import sys

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.test import Client  # noqa: E402

from annotation.membership.members import add_member  # noqa: E402
from annotation.membership.tokens import issue_token  # noqa: E402
from annotation.models import Membership, Project, QueueItem  # noqa: E402

MANAGER = "manager"


def people(count: str) -> list[str]:
    users = [User.objects.create_user(MANAGER, is_staff=True)]
    users += [User.objects.create_user(f"annotator{number}") for number in range(int(count))]
    return [issue_token(by=user, name="benchmark")[1] for user in users]


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


if __name__ == "__main__":
    verbs = {"people": people, "join": join, "session": session, "places": places}
    print(json.dumps(verbs[sys.argv[1]](*sys.argv[2:])))
