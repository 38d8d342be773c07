import string
from typing import Any

from django.db import migrations

# Giving up and a bad problem had no key: these are the usual ones.
TWO = {"give_up": "9", "bad_problem": "8"}
FREE = "567u" + string.punctuation + string.ascii_lowercase


def give_keys(apps: Any, schema_editor: Any) -> None:
    """Where a project uses 8 or 9 for something else, that stays, and the new command gets a free key."""
    for project in apps.get_model("annotation", "Project").objects.all():
        keys = project.scheme.get("keys", {})
        if found := keys_for_two(keys):
            project.scheme["keys"] = keys | found
            project.save(update_fields=["scheme"])


def keys_for_two(keys: dict[str, str]) -> dict[str, str]:
    """A key for each of the two whose usual one `keys` gives to something else."""
    usual = {*"1234jkexnfctpidywmo/ahrgbzsv?0ql", *TWO.values()}
    found: dict[str, str] = {}
    for name, key in TWO.items():
        if key in keys.values() and name not in keys:
            found[name] = next(one for one in FREE if one not in {*usual, *keys.values(), *found.values()})
    return found


class Migration(migrations.Migration):
    dependencies = [("annotation", "0050_machine_members")]

    operations = [migrations.RunPython(give_keys, migrations.RunPython.noop)]
