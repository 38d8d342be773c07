"""Fills the database of an outage world and prints how to get in: `python -m tests.outage_seed SOLUTIONS`."""

import json
import os
import sys

import django


def main(solutions: int) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.test"
    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    from annotation.core.membership.tokens import issue_token
    from tests.factories import GenerationFactory, MembershipFactory, ProblemFactory, QueueItemFactory, SolutionFactory

    call_command("migrate", verbosity=0)
    generation = GenerationFactory(project__slug="outage", project__policy={"queue": {"prefetch_depth": solutions}})
    for number in range(1, solutions + 1):
        problem = ProblemFactory(project=generation.project, text=f"Problem {number}: what is {number} + 2?")
        solution = SolutionFactory(project=generation.project, problem=problem)
        QueueItemFactory(generation=generation, solution=solution, rank=number)
    program, person = (MembershipFactory(project=generation.project).user for _ in range(2))
    browser = Client()
    browser.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
    told = {
        "token": issue_token(by=program, name="outage", scopes=("claim", "submit", "read"), for_person=True)[1],
        "cookie": settings.SESSION_COOKIE_NAME,
        "session": browser.cookies[settings.SESSION_COOKIE_NAME].value,
    }
    print(json.dumps(told))  # noqa: T201 - the world reads it


if __name__ == "__main__":
    main(int(sys.argv[1]))
