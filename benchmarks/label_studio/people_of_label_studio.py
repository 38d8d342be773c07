"""Does what Label Studio's API does not offer, run by its interpreter; prints JSON.

people N               an owner and N members of one organization: their tokens
join PROJECT           make the members annotators of a project
"""

import json
import sys

import django

django.setup()

from organizations.models import Organization  # noqa: E402
from projects.models import Project  # noqa: E402
from users.models import User  # noqa: E402


def people(count: str) -> list[str]:
    tokens = []
    for number in range(int(count) + 1):
        user = User.objects.create_user(email=f"user{number}@example.com", password="benchmark")
        if number == 0:
            organization = Organization.create_organization(created_by=user, title="Benchmark")
            organization.jwt.legacy_api_tokens_enabled = True
            organization.jwt.save()
        else:
            organization.add_user(user)
        user.active_organization = organization
        user.save()
        tokens.append(user.auth_token.key)
    return tokens


def join(project: str) -> None:
    for user in User.objects.exclude(email="user0@example.com"):
        Project.objects.get(pk=project).add_collaborator(user)


print(json.dumps({"people": people, "join": join}[sys.argv[1]](*sys.argv[2:])))
