"""Run by Label Studio's interpreter: make one owner and N members, and print their tokens as JSON."""

import json
import sys

import django

django.setup()

from organizations.models import Organization  # noqa: E402
from users.models import User  # noqa: E402

tokens = []
for number in range(int(sys.argv[1]) + 1):
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
print(json.dumps(tokens))
