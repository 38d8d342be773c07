import string
from typing import Any

from django.db import migrations

# What came without a place in the scheme, with the key that it has where no scheme says otherwise.
THREE = {"no_error": "0", "go_to": "q", "returned": "l"}
# None of these is anything's usual key; there are more signs than things to do.
FREE = "56789u" + string.punctuation + string.ascii_lowercase


def give_keys(apps: Any, schema_editor: Any) -> None:
    """Where a project has given one of these keys away, what lost it by that gets another, under which it is found on `?`."""
    for project in apps.get_model("annotation", "Project").objects.all():
        keys = project.scheme.get("keys", {})
        if found := keys_for_three(keys):
            project.scheme["keys"] = keys | found
            project.save(update_fields=["scheme"])


def keys_for_three(keys: dict[str, str]) -> dict[str, str]:
    """A key for each of the three whose usual one `keys` gives to something else."""
    usual = {*"1234jkexnfctpidywmo/ahrgbzsv?", *THREE.values()}  # as they were then
    found: dict[str, str] = {}
    for name, key in THREE.items():
        if key in keys.values() and name not in keys:
            found[name] = next(one for one in FREE if one not in {*usual, *keys.values(), *found.values()})
    return found


class Migration(migrations.Migration):
    dependencies = [("annotation", "0034_jobs")]

    operations = [migrations.RunPython(give_keys, migrations.RunPython.noop)]
