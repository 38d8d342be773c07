"""The accounts of the demo project. Each installation has its own passwords, in a private file.

The file is written last: while it is missing, the demo is not finished.
"""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User

PEOPLE = ("annotator", "reviewer", "manager")


def accounts_file() -> Path:
    """The path of the file with the passwords."""
    return settings.STATE_ROOT / "demo_accounts.txt"


def create_accounts(names: Iterable[str]) -> dict[str, User]:
    """Get or create accounts, by user name. Nobody can sign in to a new one yet."""
    users = {}
    for name in names:
        user, created = User.objects.get_or_create(username=name)
        if created:
            user.set_unusable_password()
            user.save(update_fields=["password"])
        users[name] = user
    return users


def publish_passwords() -> str:
    """Set the passwords and write them to the file, unless it exists; returns its text."""
    if not accounts_file().exists():
        passwords = {name: secrets.token_urlsafe(9) for name in PEOPLE}
        for name, user in create_accounts(PEOPLE).items():
            user.set_password(passwords[name])
            user.save(update_fields=["password"])
        rows = [f"  {name:<10} {password}" for name, password in passwords.items()]
        _write_private(accounts_file(), "\n".join(["Accounts of the demo project (name, password):", *rows, ""]))
    return accounts_file().read_text()


def _write_private(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        out.write(text)
    partial.replace(path)
