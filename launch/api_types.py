"""Generates the front end's TypeScript: the types of the API, from its OpenAPI schemas, and the shared vocabulary.

python -m launch.api_types            write them
python -m launch.api_types --check    fail if they are not up to date
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from launch.errors import LaunchError, exit_status
from launch.frontend import SOURCES, find_node, install_packages
from launch.options import BASE_DIR

TYPES = SOURCES / "src" / "api" / "schema.d.ts"
NAMED_BY = SOURCES / "src" / "api" / "types.ts"
VOCABULARY = SOURCES / "src" / "vocabulary.ts"
# The settings require addresses; describing the API connects to neither.
UNUSED = {"DATABASE_URL": "postgresql:///", "REDIS_URL": "redis://unused"}


def generate() -> dict[Path, str]:
    """The up-to-date text of each generated file."""
    return {TYPES: generate_types(), VOCABULARY: _run([sys.executable, "manage.py", "front_end_vocabulary"])}


def generate_types() -> str:
    """The types of the API. A warning of the generator is an error."""
    node = find_node()
    install_packages(SOURCES, node)
    with tempfile.TemporaryDirectory() as folder:
        description, types = Path(folder) / "schema.json", Path(folder) / "schema.d.ts"
        describe = [sys.executable, "manage.py", "spectacular", "--format", "openapi-json", "--file", str(description)]
        _run([*describe, "--validate", "--fail-on-warn"])
        whole = json.loads(description.read_text())
        description.write_text(json.dumps(reduce_to_used(whole, NAMED_BY.read_text())))
        translator = SOURCES / "node_modules" / "openapi-typescript" / "bin" / "cli.js"
        _run([str(node), str(translator), str(description), "--default-non-nullable=false", "--output", str(types)])
        return types.read_text()


def reduce_to_used(description: dict[str, Any], source: str) -> dict[str, Any]:
    """The description without paths, and with only the schemas that `source` names (`Schemas["Name"]`) or they use.

    Raises LaunchError for a name that the API does not have.
    """
    schemas, used = description["components"]["schemas"], set[str]()
    wanted = set(re.findall(r'Schemas\["(\w+)"\]', source))
    if unknown := sorted(wanted - set(schemas)):
        raise LaunchError(f"{NAMED_BY.relative_to(BASE_DIR)} names schemas that the API does not have: {unknown}.")
    while wanted:
        name = wanted.pop()
        used.add(name)
        wanted |= set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(schemas[name]))) - used
    needed = {name: schema for name, schema in schemas.items() if name in used}
    return description | {"paths": {}, "components": {"schemas": needed}}


def write() -> None:
    """Write the generated files."""
    for file, text in generate().items():
        file.write_text(text)


def check() -> None:
    """Raises LaunchError if a file is not up to date."""
    for file, text in generate().items():
        if file.read_text() != text:
            raise LaunchError(f"{file.relative_to(BASE_DIR)} is not up to date: run `make types` and commit it.")


def _run(command: list[str]) -> str:
    outcome = subprocess.run(command, cwd=BASE_DIR, env=os.environ | UNUSED, capture_output=True, text=True)
    if outcome.returncode != 0:
        print(outcome.stdout + outcome.stderr, file=sys.stderr)
        raise LaunchError("The API's types cannot be generated: the error is above.")
    return outcome.stdout


if __name__ == "__main__":
    sys.exit(exit_status(check if sys.argv[1:] == ["--check"] else write))
